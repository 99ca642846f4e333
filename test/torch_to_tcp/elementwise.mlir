// RUN: tcp-opt %s -torch-backend-to-tcp-backend-pipeline | FileCheck %s

// CHECK-LABEL: func.func @aten___lshift___Scalar(
// CHECK:         tcp.broadcast
// CHECK:         tcp.shli
// CHECK:         return
func.func @aten___lshift___Scalar(%x: !torch.vtensor<[?,3],si64>) -> !torch.vtensor<[?,3],si64> {
  %i2 = torch.constant.int 2
  %0 = torch.aten.__lshift__.Scalar %x, %i2 : !torch.vtensor<[?,3],si64>, !torch.int -> !torch.vtensor<[?,3],si64>
  return %0 : !torch.vtensor<[?,3],si64>
}

// CHECK-LABEL: func.func @aten___rshift___Scalar(
// CHECK:         tcp.broadcast
// CHECK:         tcp.shrsi
// CHECK:         return
func.func @aten___rshift___Scalar(%x: !torch.vtensor<[?,3],si64>) -> !torch.vtensor<[?,3],si64> {
  %i2 = torch.constant.int 2
  %0 = torch.aten.__rshift__.Scalar %x, %i2 : !torch.vtensor<[?,3],si64>, !torch.int -> !torch.vtensor<[?,3],si64>
  return %0 : !torch.vtensor<[?,3],si64>
}

// CHECK-LABEL: func.func @aten_abs(
// CHECK:         tcp.abs
// CHECK:         return
func.func @aten_abs(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %0 = torch.aten.abs %x : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_acos(
// CHECK:         tcp.acos
// CHECK:         return
func.func @aten_acos(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %0 = torch.aten.acos %x : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_add_Scalar(
// CHECK:         tcp.broadcast
// CHECK:         tcp.add
// CHECK:         return
func.func @aten_add_Scalar(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %f2 = torch.constant.float 2.000000e+00
  %i1 = torch.constant.int 1
  %0 = torch.aten.add.Scalar %x, %f2, %i1 : !torch.vtensor<[?,3],f32>, !torch.float, !torch.int -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_add_Tensor(
// CHECK:         tcp.add
// CHECK:         return
func.func @aten_add_Tensor(%x: !torch.vtensor<[?,3],f32>, %y: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %i1 = torch.constant.int 1
  %0 = torch.aten.add.Tensor %x, %y, %i1 : !torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],f32>, !torch.int -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_sub_Tensor_of_a_multiple(
// CHECK:         tcp.const {value = dense<-3.000000e-01>
// CHECK:         tcp.fmuladd
// CHECK-NOT:     tcp.sub
// CHECK:         return
func.func @aten_sub_Tensor_of_a_multiple(%x: !torch.vtensor<[?,3],f32>, %y: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %f = torch.constant.float 3.000000e-01
  %0 = torch.aten.sub.Tensor %x, %y, %f : !torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],f32>, !torch.float -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_asin(
// CHECK:         tcp.asin
// CHECK:         return
func.func @aten_asin(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %0 = torch.aten.asin %x : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_atan(
// CHECK:         tcp.atan
// CHECK:         return
func.func @aten_atan(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %0 = torch.aten.atan %x : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_atan2(
// CHECK:         tcp.atan2
// CHECK:         return
func.func @aten_atan2(%x: !torch.vtensor<[?,3],f32>, %y: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %0 = torch.aten.atan2 %x, %y : !torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_bitwise_and_Scalar(
// CHECK:         tcp.broadcast
// CHECK:         tcp.bitwise_and
// CHECK:         return
func.func @aten_bitwise_and_Scalar(%x: !torch.vtensor<[?,3],si64>) -> !torch.vtensor<[?,3],si64> {
  %i2 = torch.constant.int 2
  %0 = torch.aten.bitwise_and.Scalar %x, %i2 : !torch.vtensor<[?,3],si64>, !torch.int -> !torch.vtensor<[?,3],si64>
  return %0 : !torch.vtensor<[?,3],si64>
}

// CHECK-LABEL: func.func @aten_bitwise_and_Tensor(
// CHECK:         tcp.bitwise_and
// CHECK:         return
func.func @aten_bitwise_and_Tensor(%x: !torch.vtensor<[?,3],si64>, %y: !torch.vtensor<[?,3],si64>) -> !torch.vtensor<[?,3],si64> {
  %0 = torch.aten.bitwise_and.Tensor %x, %y : !torch.vtensor<[?,3],si64>, !torch.vtensor<[?,3],si64> -> !torch.vtensor<[?,3],si64>
  return %0 : !torch.vtensor<[?,3],si64>
}

// CHECK-LABEL: func.func @aten_bitwise_left_shift_Tensor(
// CHECK:         tcp.shli
// CHECK:         return
func.func @aten_bitwise_left_shift_Tensor(%x: !torch.vtensor<[?,3],si64>, %y: !torch.vtensor<[?,3],si64>) -> !torch.vtensor<[?,3],si64> {
  %0 = torch.aten.bitwise_left_shift.Tensor %x, %y : !torch.vtensor<[?,3],si64>, !torch.vtensor<[?,3],si64> -> !torch.vtensor<[?,3],si64>
  return %0 : !torch.vtensor<[?,3],si64>
}

// CHECK-LABEL: func.func @aten_bitwise_not(
// CHECK:         tcp.bitwise_not
// CHECK:         return
func.func @aten_bitwise_not(%x: !torch.vtensor<[?,3],si64>) -> !torch.vtensor<[?,3],si64> {
  %0 = torch.aten.bitwise_not %x : !torch.vtensor<[?,3],si64> -> !torch.vtensor<[?,3],si64>
  return %0 : !torch.vtensor<[?,3],si64>
}

// CHECK-LABEL: func.func @aten_bitwise_or_Scalar(
// CHECK:         tcp.broadcast
// CHECK:         tcp.bitwise_or
// CHECK:         return
func.func @aten_bitwise_or_Scalar(%x: !torch.vtensor<[?,3],si64>) -> !torch.vtensor<[?,3],si64> {
  %i2 = torch.constant.int 2
  %0 = torch.operator "torch.aten.bitwise_or.Scalar"(%x, %i2) : (!torch.vtensor<[?,3],si64>, !torch.int) -> !torch.vtensor<[?,3],si64>
  return %0 : !torch.vtensor<[?,3],si64>
}

// CHECK-LABEL: func.func @aten_bitwise_or_Tensor(
// CHECK:         tcp.bitwise_or
// CHECK:         return
func.func @aten_bitwise_or_Tensor(%x: !torch.vtensor<[?,3],si64>, %y: !torch.vtensor<[?,3],si64>) -> !torch.vtensor<[?,3],si64> {
  %0 = torch.aten.bitwise_or.Tensor %x, %y : !torch.vtensor<[?,3],si64>, !torch.vtensor<[?,3],si64> -> !torch.vtensor<[?,3],si64>
  return %0 : !torch.vtensor<[?,3],si64>
}

// CHECK-LABEL: func.func @aten_bitwise_right_shift_Tensor(
// CHECK:         tcp.shrsi
// CHECK:         return
func.func @aten_bitwise_right_shift_Tensor(%x: !torch.vtensor<[?,3],si64>, %y: !torch.vtensor<[?,3],si64>) -> !torch.vtensor<[?,3],si64> {
  %0 = torch.aten.bitwise_right_shift.Tensor %x, %y : !torch.vtensor<[?,3],si64>, !torch.vtensor<[?,3],si64> -> !torch.vtensor<[?,3],si64>
  return %0 : !torch.vtensor<[?,3],si64>
}

// CHECK-LABEL: func.func @aten_bitwise_xor_Scalar(
// CHECK:         tcp.broadcast
// CHECK:         tcp.bitwise_xor
// CHECK:         return
func.func @aten_bitwise_xor_Scalar(%x: !torch.vtensor<[?,3],si64>) -> !torch.vtensor<[?,3],si64> {
  %i2 = torch.constant.int 2
  %0 = torch.operator "torch.aten.bitwise_xor.Scalar"(%x, %i2) : (!torch.vtensor<[?,3],si64>, !torch.int) -> !torch.vtensor<[?,3],si64>
  return %0 : !torch.vtensor<[?,3],si64>
}

// CHECK-LABEL: func.func @aten_bitwise_xor_Tensor(
// CHECK:         tcp.bitwise_xor
// CHECK:         return
func.func @aten_bitwise_xor_Tensor(%x: !torch.vtensor<[?,3],si64>, %y: !torch.vtensor<[?,3],si64>) -> !torch.vtensor<[?,3],si64> {
  %0 = torch.aten.bitwise_xor.Tensor %x, %y : !torch.vtensor<[?,3],si64>, !torch.vtensor<[?,3],si64> -> !torch.vtensor<[?,3],si64>
  return %0 : !torch.vtensor<[?,3],si64>
}

// CHECK-LABEL: func.func @aten_ceil(
// CHECK:         tcp.ceil
// CHECK:         return
func.func @aten_ceil(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %0 = torch.aten.ceil %x : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// Bounds have the element's own type.
// CHECK-LABEL: func.func @aten_clamp(
// CHECK:         tcp.clamp %{{.*}} {min_float = {{.*}} : f32}
// CHECK:         return
func.func @aten_clamp(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %f2 = torch.constant.float 2.000000e+00
  %none = torch.constant.none
  %0 = torch.aten.clamp %x, %f2, %none : !torch.vtensor<[?,3],f32>, !torch.float, !torch.none -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_clamp_Tensor(
// CHECK:         tcp.maximum
// CHECK:         tcp.minimum
// CHECK:         return
func.func @aten_clamp_Tensor(%x: !torch.vtensor<[?,3],f32>, %y: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %0 = torch.aten.clamp.Tensor %x, %y, %y : !torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_copysign_Tensor(
// CHECK:         tcp.copysign
// CHECK:         return
func.func @aten_copysign_Tensor(%x: !torch.vtensor<[?,3],f32>, %y: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %0 = torch.aten.copysign.Tensor %x, %y : !torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_cos(
// CHECK:         tcp.cos
// CHECK:         return
func.func @aten_cos(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %0 = torch.aten.cos %x : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_cosh(
// CHECK:         tcp.cosh
// CHECK:         return
func.func @aten_cosh(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %0 = torch.aten.cosh %x : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_div_Scalar(
// CHECK:         tcp.broadcast
// CHECK:         tcp.divf
// CHECK:         return
func.func @aten_div_Scalar(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %f2 = torch.constant.float 2.000000e+00
  %0 = torch.aten.div.Scalar %x, %f2 : !torch.vtensor<[?,3],f32>, !torch.float -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_div_Scalar_mode(
// CHECK:         tcp.broadcast
// CHECK:         tcp.divsi {{.*}}<rounding_mode Trunc>
// CHECK:         return
func.func @aten_div_Scalar_mode(%x: !torch.vtensor<[?,3],si64>) -> !torch.vtensor<[?,3],si64> {
  %i2 = torch.constant.int 2
  %trunc = torch.constant.str "trunc"
  %0 = torch.aten.div.Scalar_mode %x, %i2, %trunc : !torch.vtensor<[?,3],si64>, !torch.int, !torch.str -> !torch.vtensor<[?,3],si64>
  return %0 : !torch.vtensor<[?,3],si64>
}

// CHECK-LABEL: func.func @aten_div_Tensor(
// CHECK:         tcp.divf
// CHECK:         return
func.func @aten_div_Tensor(%x: !torch.vtensor<[?,3],f32>, %y: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %0 = torch.aten.div.Tensor %x, %y : !torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_div_Tensor_mode(
// CHECK:         tcp.divsi {{.*}}<rounding_mode Floor>
// CHECK:         return
func.func @aten_div_Tensor_mode(%x: !torch.vtensor<[?,3],si64>, %y: !torch.vtensor<[?,3],si64>) -> !torch.vtensor<[?,3],si64> {
  %floor = torch.constant.str "floor"
  %0 = torch.aten.div.Tensor_mode %x, %y, %floor : !torch.vtensor<[?,3],si64>, !torch.vtensor<[?,3],si64>, !torch.str -> !torch.vtensor<[?,3],si64>
  return %0 : !torch.vtensor<[?,3],si64>
}

// CHECK-LABEL: func.func @aten_elu(
// CHECK:         tcp.broadcast
// CHECK:         tcp.compare {{.*}}<predicate gt>
// CHECK:         tcp.broadcast
// CHECK:         tcp.mul
// CHECK:         tcp.expm1
// CHECK:         tcp.broadcast
// CHECK:         tcp.mul
// CHECK:         tcp.select
// CHECK:         return
func.func @aten_elu(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %f2 = torch.constant.float 2.000000e+00
  %0 = torch.aten.elu %x, %f2, %f2, %f2 : !torch.vtensor<[?,3],f32>, !torch.float, !torch.float, !torch.float -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_eq_Scalar(
// CHECK:         tcp.broadcast
// CHECK:         tcp.compare {{.*}}<predicate eq>
// CHECK:         return
func.func @aten_eq_Scalar(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],i1> {
  %f2 = torch.constant.float 2.000000e+00
  %0 = torch.aten.eq.Scalar %x, %f2 : !torch.vtensor<[?,3],f32>, !torch.float -> !torch.vtensor<[?,3],i1>
  return %0 : !torch.vtensor<[?,3],i1>
}

// CHECK-LABEL: func.func @aten_eq_Tensor(
// CHECK:         tcp.compare {{.*}}<predicate eq>
// CHECK:         return
func.func @aten_eq_Tensor(%x: !torch.vtensor<[?,3],f32>, %y: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],i1> {
  %0 = torch.aten.eq.Tensor %x, %y : !torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],i1>
  return %0 : !torch.vtensor<[?,3],i1>
}

// CHECK-LABEL: func.func @aten_erf(
// CHECK:         tcp.erf
// CHECK:         return
func.func @aten_erf(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %0 = torch.aten.erf %x : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_erfc(
// CHECK:         tcp.erfc
// CHECK:         return
func.func @aten_erfc(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %0 = torch.operator "torch.aten.erfc"(%x) : (!torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_exp(
// CHECK:         tcp.exp
// CHECK:         return
func.func @aten_exp(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %0 = torch.aten.exp %x : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_expm1(
// CHECK:         tcp.expm1
// CHECK:         return
func.func @aten_expm1(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %0 = torch.aten.expm1 %x : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_floor(
// CHECK:         tcp.floor
// CHECK:         return
func.func @aten_floor(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %0 = torch.aten.floor %x : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// PyTorch's division never gives integers, and TCP's of floats takes none.
// CHECK-LABEL: func.func @aten_div_of_integers(
// CHECK-NOT:     tcp.divf
// CHECK:         arith.divsi
func.func @aten_div_of_integers(%x: !torch.vtensor<[?,3],si64>) -> !torch.vtensor<[?,3],si64> {
  %0 = torch.aten.div.Tensor %x, %x : !torch.vtensor<[?,3],si64>, !torch.vtensor<[?,3],si64> -> !torch.vtensor<[?,3],si64>
  return %0 : !torch.vtensor<[?,3],si64>
}

// CHECK-LABEL: func.func @aten_floor_divide(
// CHECK:         tcp.divsi {{.*}}<rounding_mode Floor>
// CHECK:         return
func.func @aten_floor_divide(%x: !torch.vtensor<[?,3],si64>, %y: !torch.vtensor<[?,3],si64>) -> !torch.vtensor<[?,3],si64> {
  %0 = torch.aten.floor_divide %x, %y : !torch.vtensor<[?,3],si64>, !torch.vtensor<[?,3],si64> -> !torch.vtensor<[?,3],si64>
  return %0 : !torch.vtensor<[?,3],si64>
}

// CHECK-LABEL: func.func @aten_floor_divide_Scalar(
// CHECK:         tcp.broadcast
// CHECK:         tcp.divsi {{.*}}<rounding_mode Floor>
// CHECK:         return
func.func @aten_floor_divide_Scalar(%x: !torch.vtensor<[?,3],si64>) -> !torch.vtensor<[?,3],si64> {
  %i2 = torch.constant.int 2
  %0 = torch.aten.floor_divide.Scalar %x, %i2 : !torch.vtensor<[?,3],si64>, !torch.int -> !torch.vtensor<[?,3],si64>
  return %0 : !torch.vtensor<[?,3],si64>
}

// CHECK-LABEL: func.func @aten_fmod_Scalar(
// CHECK:         tcp.broadcast
// CHECK:         tcp.remf
// CHECK:         return
func.func @aten_fmod_Scalar(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %f2 = torch.constant.float 2.000000e+00
  %0 = torch.aten.fmod.Scalar %x, %f2 : !torch.vtensor<[?,3],f32>, !torch.float -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_fmod_Tensor(
// CHECK:         tcp.remf
// CHECK:         return
func.func @aten_fmod_Tensor(%x: !torch.vtensor<[?,3],f32>, %y: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %0 = torch.aten.fmod.Tensor %x, %y : !torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_ge_Scalar(
// CHECK:         tcp.broadcast
// CHECK:         tcp.compare {{.*}}<predicate ge>
// CHECK:         return
func.func @aten_ge_Scalar(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],i1> {
  %f2 = torch.constant.float 2.000000e+00
  %0 = torch.aten.ge.Scalar %x, %f2 : !torch.vtensor<[?,3],f32>, !torch.float -> !torch.vtensor<[?,3],i1>
  return %0 : !torch.vtensor<[?,3],i1>
}

// CHECK-LABEL: func.func @aten_ge_Tensor(
// CHECK:         tcp.compare {{.*}}<predicate ge>
// CHECK:         return
func.func @aten_ge_Tensor(%x: !torch.vtensor<[?,3],f32>, %y: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],i1> {
  %0 = torch.aten.ge.Tensor %x, %y : !torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],i1>
  return %0 : !torch.vtensor<[?,3],i1>
}

// CHECK-LABEL: func.func @aten_gelu(
// CHECK:         tcp.broadcast
// CHECK:         tcp.mul
// CHECK:         tcp.erf
// CHECK:         tcp.broadcast
// CHECK:         tcp.add
// CHECK:         tcp.broadcast
// CHECK:         tcp.mul
// CHECK:         tcp.mul
// CHECK:         return
func.func @aten_gelu(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %nonestr = torch.constant.str "none"
  %0 = torch.aten.gelu %x, %nonestr : !torch.vtensor<[?,3],f32>, !torch.str -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_gt_Scalar(
// CHECK:         tcp.broadcast
// CHECK:         tcp.compare {{.*}}<predicate gt>
// CHECK:         return
func.func @aten_gt_Scalar(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],i1> {
  %f2 = torch.constant.float 2.000000e+00
  %0 = torch.aten.gt.Scalar %x, %f2 : !torch.vtensor<[?,3],f32>, !torch.float -> !torch.vtensor<[?,3],i1>
  return %0 : !torch.vtensor<[?,3],i1>
}

// CHECK-LABEL: func.func @aten_gt_Tensor(
// CHECK:         tcp.compare {{.*}}<predicate gt>
// CHECK:         return
func.func @aten_gt_Tensor(%x: !torch.vtensor<[?,3],f32>, %y: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],i1> {
  %0 = torch.aten.gt.Tensor %x, %y : !torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],i1>
  return %0 : !torch.vtensor<[?,3],i1>
}

// CHECK-LABEL: func.func @aten_isfinite(
// CHECK:         tcp.isfinite
// CHECK:         return
func.func @aten_isfinite(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],i1> {
  %0 = torch.aten.isfinite %x : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],i1>
  return %0 : !torch.vtensor<[?,3],i1>
}

// CHECK-LABEL: func.func @aten_isinf(
// CHECK:         tcp.isinf
// CHECK:         return
func.func @aten_isinf(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],i1> {
  %0 = torch.aten.isinf %x : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],i1>
  return %0 : !torch.vtensor<[?,3],i1>
}

// CHECK-LABEL: func.func @aten_isnan(
// CHECK:         tcp.isnan
// CHECK:         return
func.func @aten_isnan(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],i1> {
  %0 = torch.aten.isnan %x : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],i1>
  return %0 : !torch.vtensor<[?,3],i1>
}

// CHECK-LABEL: func.func @aten_le_Scalar(
// CHECK:         tcp.broadcast
// CHECK:         tcp.compare {{.*}}<predicate le>
// CHECK:         return
func.func @aten_le_Scalar(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],i1> {
  %f2 = torch.constant.float 2.000000e+00
  %0 = torch.aten.le.Scalar %x, %f2 : !torch.vtensor<[?,3],f32>, !torch.float -> !torch.vtensor<[?,3],i1>
  return %0 : !torch.vtensor<[?,3],i1>
}

// CHECK-LABEL: func.func @aten_le_Tensor(
// CHECK:         tcp.compare {{.*}}<predicate le>
// CHECK:         return
func.func @aten_le_Tensor(%x: !torch.vtensor<[?,3],f32>, %y: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],i1> {
  %0 = torch.aten.le.Tensor %x, %y : !torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],i1>
  return %0 : !torch.vtensor<[?,3],i1>
}

// CHECK-LABEL: func.func @aten_leaky_relu(
// CHECK:         tcp.broadcast
// CHECK:         tcp.compare {{.*}}<predicate gt>
// CHECK:         tcp.broadcast
// CHECK:         tcp.mul
// CHECK:         tcp.select
// CHECK:         return
func.func @aten_leaky_relu(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %half = torch.constant.float 5.000000e-01
  %0 = torch.aten.leaky_relu %x, %half : !torch.vtensor<[?,3],f32>, !torch.float -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_log(
// CHECK:         tcp.log
// CHECK:         return
func.func @aten_log(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %0 = torch.aten.log %x : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_log1p(
// CHECK:         tcp.log1p
// CHECK:         return
func.func @aten_log1p(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %0 = torch.aten.log1p %x : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_logical_and(
// CHECK:         tcp.logical_and
// CHECK:         return
func.func @aten_logical_and(%x: !torch.vtensor<[?,3],i1>, %y: !torch.vtensor<[?,3],i1>) -> !torch.vtensor<[?,3],i1> {
  %0 = torch.aten.logical_and %x, %y : !torch.vtensor<[?,3],i1>, !torch.vtensor<[?,3],i1> -> !torch.vtensor<[?,3],i1>
  return %0 : !torch.vtensor<[?,3],i1>
}

// CHECK-LABEL: func.func @aten_logical_not(
// CHECK:         tcp.logical_not
// CHECK:         return
func.func @aten_logical_not(%x: !torch.vtensor<[?,3],i1>) -> !torch.vtensor<[?,3],i1> {
  %0 = torch.aten.logical_not %x : !torch.vtensor<[?,3],i1> -> !torch.vtensor<[?,3],i1>
  return %0 : !torch.vtensor<[?,3],i1>
}

// CHECK-LABEL: func.func @aten_logical_or(
// CHECK:         tcp.logical_or
// CHECK:         return
func.func @aten_logical_or(%x: !torch.vtensor<[?,3],i1>, %y: !torch.vtensor<[?,3],i1>) -> !torch.vtensor<[?,3],i1> {
  %0 = torch.aten.logical_or %x, %y : !torch.vtensor<[?,3],i1>, !torch.vtensor<[?,3],i1> -> !torch.vtensor<[?,3],i1>
  return %0 : !torch.vtensor<[?,3],i1>
}

// CHECK-LABEL: func.func @aten_logical_xor(
// CHECK:         tcp.logical_xor
// CHECK:         return
func.func @aten_logical_xor(%x: !torch.vtensor<[?,3],i1>, %y: !torch.vtensor<[?,3],i1>) -> !torch.vtensor<[?,3],i1> {
  %0 = torch.aten.logical_xor %x, %y : !torch.vtensor<[?,3],i1>, !torch.vtensor<[?,3],i1> -> !torch.vtensor<[?,3],i1>
  return %0 : !torch.vtensor<[?,3],i1>
}

// CHECK-LABEL: func.func @aten_lt_Scalar(
// CHECK:         tcp.broadcast
// CHECK:         tcp.compare {{.*}}<predicate lt>
// CHECK:         return
func.func @aten_lt_Scalar(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],i1> {
  %f2 = torch.constant.float 2.000000e+00
  %0 = torch.aten.lt.Scalar %x, %f2 : !torch.vtensor<[?,3],f32>, !torch.float -> !torch.vtensor<[?,3],i1>
  return %0 : !torch.vtensor<[?,3],i1>
}

// CHECK-LABEL: func.func @aten_lt_Tensor(
// CHECK:         tcp.compare {{.*}}<predicate lt>
// CHECK:         return
func.func @aten_lt_Tensor(%x: !torch.vtensor<[?,3],f32>, %y: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],i1> {
  %0 = torch.aten.lt.Tensor %x, %y : !torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],i1>
  return %0 : !torch.vtensor<[?,3],i1>
}

// CHECK-LABEL: func.func @aten_maximum(
// CHECK:         tcp.maximum
// CHECK:         return
func.func @aten_maximum(%x: !torch.vtensor<[?,3],f32>, %y: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %0 = torch.aten.maximum %x, %y : !torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_minimum(
// CHECK:         tcp.minimum
// CHECK:         return
func.func @aten_minimum(%x: !torch.vtensor<[?,3],f32>, %y: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %0 = torch.aten.minimum %x, %y : !torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_mul_Scalar(
// CHECK:         tcp.broadcast
// CHECK:         tcp.mul
// CHECK:         return
func.func @aten_mul_Scalar(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %f2 = torch.constant.float 2.000000e+00
  %0 = torch.aten.mul.Scalar %x, %f2 : !torch.vtensor<[?,3],f32>, !torch.float -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_mul_Tensor(
// CHECK:         tcp.mul
// CHECK:         return
func.func @aten_mul_Tensor(%x: !torch.vtensor<[?,3],f32>, %y: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %0 = torch.aten.mul.Tensor %x, %y : !torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_ne_Scalar(
// CHECK:         tcp.broadcast
// CHECK:         tcp.compare {{.*}}<predicate ne>
// CHECK:         return
func.func @aten_ne_Scalar(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],i1> {
  %f2 = torch.constant.float 2.000000e+00
  %0 = torch.aten.ne.Scalar %x, %f2 : !torch.vtensor<[?,3],f32>, !torch.float -> !torch.vtensor<[?,3],i1>
  return %0 : !torch.vtensor<[?,3],i1>
}

// CHECK-LABEL: func.func @aten_ne_Tensor(
// CHECK:         tcp.compare {{.*}}<predicate ne>
// CHECK:         return
func.func @aten_ne_Tensor(%x: !torch.vtensor<[?,3],f32>, %y: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],i1> {
  %0 = torch.aten.ne.Tensor %x, %y : !torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],i1>
  return %0 : !torch.vtensor<[?,3],i1>
}

// CHECK-LABEL: func.func @aten_neg(
// CHECK:         tcp.neg
// CHECK:         return
func.func @aten_neg(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %0 = torch.aten.neg %x : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_pow_Scalar(
// CHECK:         tcp.broadcast
// CHECK:         tcp.pow
// CHECK:         return
func.func @aten_pow_Scalar(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %f2 = torch.constant.float 2.000000e+00
  %0 = torch.aten.pow.Scalar %f2, %x : !torch.float, !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_pow_Tensor_Scalar(
// CHECK:         tcp.sqrt
// CHECK:         return
func.func @aten_pow_Tensor_Scalar(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %half = torch.constant.float 5.000000e-01
  %0 = torch.aten.pow.Tensor_Scalar %x, %half : !torch.vtensor<[?,3],f32>, !torch.float -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_pow_Tensor_Scalar_of_run_time(
// CHECK:         tcp.pow
// CHECK:         return
func.func @aten_pow_Tensor_Scalar_of_run_time(%x: !torch.vtensor<[?,3],f32>, %n: !torch.vtensor<[],si64>) -> !torch.vtensor<[?,3],f32> {
  %number = torch.aten.Int.Tensor %n : !torch.vtensor<[],si64> -> !torch.int
  %0 = torch.aten.pow.Tensor_Scalar %x, %number : !torch.vtensor<[?,3],f32>, !torch.int -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_pow_Tensor_Tensor(
// CHECK:         tcp.pow
// CHECK:         return
func.func @aten_pow_Tensor_Tensor(%x: !torch.vtensor<[?,3],f32>, %y: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %0 = torch.aten.pow.Tensor_Tensor %x, %y : !torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_reciprocal(
// CHECK:         tcp.broadcast
// CHECK:         tcp.divf
// CHECK:         return
func.func @aten_reciprocal(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %0 = torch.aten.reciprocal %x : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_relu(
// CHECK:         tcp.clamp
// CHECK:         return
func.func @aten_relu(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %0 = torch.aten.relu %x : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_remainder_Scalar(
// CHECK:         tcp.broadcast
// CHECK:         tcp.remf
// CHECK:         tcp.add
// CHECK:         tcp.copysign
// CHECK:         tcp.compare {{.*}}<predicate ne>
// CHECK-NOT:     tcp.logical_
// CHECK:         tcp.select
// CHECK:         return
func.func @aten_remainder_Scalar(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %f2 = torch.constant.float 2.000000e+00
  %0 = torch.aten.remainder.Scalar %x, %f2 : !torch.vtensor<[?,3],f32>, !torch.float -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_remainder_Tensor(
// CHECK:         tcp.remf
// CHECK:         tcp.add
// CHECK:         tcp.copysign
// CHECK:         tcp.compare {{.*}}<predicate ne>
// CHECK-NOT:     tcp.logical_
// CHECK:         tcp.select
// CHECK:         return
func.func @aten_remainder_Tensor(%x: !torch.vtensor<[?,3],f32>, %y: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %0 = torch.aten.remainder.Tensor %x, %y : !torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_round(
// CHECK:         tcp.round_even
// CHECK:         return
func.func @aten_round(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %0 = torch.aten.round %x : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_round_decimals(
// CHECK:         tcp.broadcast
// CHECK:         tcp.mul
// CHECK:         tcp.round_even
// CHECK:         tcp.divf
// CHECK:         return
func.func @aten_round_decimals(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %i2 = torch.constant.int 2
  %0 = torch.aten.round.decimals %x, %i2 : !torch.vtensor<[?,3],f32>, !torch.int -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_rsqrt(
// CHECK:         tcp.rsqrt
// CHECK:         return
func.func @aten_rsqrt(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %0 = torch.aten.rsqrt %x : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_rsub_Scalar(
// CHECK:         tcp.broadcast
// CHECK:         tcp.sub
// CHECK:         return
func.func @aten_rsub_Scalar(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %f2 = torch.constant.float 2.000000e+00
  %i1 = torch.constant.int 1
  %0 = torch.aten.rsub.Scalar %x, %f2, %i1 : !torch.vtensor<[?,3],f32>, !torch.float, !torch.int -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_sgn(
// CHECK:         tcp.broadcast
// CHECK:         tcp.compare {{.*}}<predicate gt>
// CHECK:         tcp.cast
// CHECK:         tcp.compare {{.*}}<predicate lt>
// CHECK:         tcp.cast
// CHECK:         tcp.sub
// CHECK:         return
func.func @aten_sgn(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %0 = torch.aten.sgn %x : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_sigmoid(
// CHECK:         tcp.sigmoid
// CHECK:         return
func.func @aten_sigmoid(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %0 = torch.aten.sigmoid %x : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_sign(
// CHECK:         tcp.broadcast
// CHECK:         tcp.compare {{.*}}<predicate gt>
// CHECK:         tcp.cast
// CHECK:         tcp.compare {{.*}}<predicate lt>
// CHECK:         tcp.cast
// CHECK:         tcp.sub
// CHECK:         return
func.func @aten_sign(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %0 = torch.aten.sign %x : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_signbit(
// CHECK:         tcp.signbit
// CHECK:         return
func.func @aten_signbit(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],i1> {
  %0 = torch.aten.signbit %x : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],i1>
  return %0 : !torch.vtensor<[?,3],i1>
}

// CHECK-LABEL: func.func @aten_sin(
// CHECK:         tcp.sin
// CHECK:         return
func.func @aten_sin(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %0 = torch.aten.sin %x : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @plumbline_polynomial(
// CHECK:         tcp.polynomial %{{.*}} {coefficients = [5.000000e-01, -2.000000e+00]}
// CHECK:         return
func.func @plumbline_polynomial(%x: !torch.vtensor<[?,3],f64>) -> !torch.vtensor<[?,3],f64> {
  %half = torch.constant.float 5.000000e-01
  %two = torch.constant.float -2.000000e+00
  %list = torch.prim.ListConstruct %half, %two : (!torch.float, !torch.float) -> !torch.list<float>
  %0 = torch.operator "torch.plumbline.polynomial"(%x, %list) : (!torch.vtensor<[?,3],f64>, !torch.list<float>) -> !torch.vtensor<[?,3],f64>
  return %0 : !torch.vtensor<[?,3],f64>
}

// CHECK-LABEL: func.func @aten_asinh(
// CHECK:         tcp.asinh
// CHECK:         return
func.func @aten_asinh(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %0 = torch.aten.asinh %x : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_sinh(
// CHECK:         tcp.sinh
// CHECK:         return
func.func @aten_sinh(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %0 = torch.aten.sinh %x : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_sqrt(
// CHECK:         tcp.sqrt
// CHECK:         return
func.func @aten_sqrt(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %0 = torch.aten.sqrt %x : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_sub_Scalar(
// CHECK:         tcp.broadcast
// CHECK:         tcp.sub
// CHECK:         return
func.func @aten_sub_Scalar(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %f2 = torch.constant.float 2.000000e+00
  %i1 = torch.constant.int 1
  %0 = torch.aten.sub.Scalar %x, %f2, %i1 : !torch.vtensor<[?,3],f32>, !torch.float, !torch.int -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_sub_Tensor(
// CHECK:         tcp.sub
// CHECK:         return
func.func @aten_sub_Tensor(%x: !torch.vtensor<[?,3],f32>, %y: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %i1 = torch.constant.int 1
  %0 = torch.aten.sub.Tensor %x, %y, %i1 : !torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],f32>, !torch.int -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_tan(
// CHECK:         tcp.tan
// CHECK:         return
func.func @aten_tan(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %0 = torch.aten.tan %x : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_tanh(
// CHECK:         tcp.tanh
// CHECK:         return
func.func @aten_tanh(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %0 = torch.aten.tanh %x : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_to_dtype(
// CHECK:         tcp.cast
// CHECK:         return
func.func @aten_to_dtype(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],si64> {
  %i4 = torch.constant.int 4
  %false = torch.constant.bool false
  %none = torch.constant.none
  %0 = torch.aten.to.dtype %x, %i4, %false, %false, %none : !torch.vtensor<[?,3],f32>, !torch.int, !torch.bool, !torch.bool, !torch.none -> !torch.vtensor<[?,3],si64>
  return %0 : !torch.vtensor<[?,3],si64>
}

// CHECK-LABEL: func.func @aten_trunc(
// CHECK:         tcp.broadcast
// CHECK:         tcp.compare {{.*}}<predicate lt>
// CHECK:         tcp.ceil
// CHECK:         tcp.floor
// CHECK:         tcp.select
// CHECK:         return
func.func @aten_trunc(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %0 = torch.aten.trunc %x : !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// CHECK-LABEL: func.func @aten_where_self(
// CHECK:         tcp.select
// CHECK:         return
func.func @aten_where_self(%c: !torch.vtensor<[?,3],i1>, %x: !torch.vtensor<[?,3],f32>, %y: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %0 = torch.aten.where.self %c, %x, %y : !torch.vtensor<[?,3],i1>, !torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],f32> -> !torch.vtensor<[?,3],f32>
  return %0 : !torch.vtensor<[?,3],f32>
}

// What integers are divided, or shifted, as depends on their sign.

// CHECK-LABEL: func.func @fmod_of_signed(
// CHECK:         tcp.remsi
// CHECK:         return
func.func @fmod_of_signed(%x: !torch.vtensor<[?,3],si64>, %y: !torch.vtensor<[?,3],si64>) -> !torch.vtensor<[?,3],si64> {
  %0 = torch.aten.fmod.Tensor %x, %y : !torch.vtensor<[?,3],si64>, !torch.vtensor<[?,3],si64> -> !torch.vtensor<[?,3],si64>
  return %0 : !torch.vtensor<[?,3],si64>
}

// CHECK-LABEL: func.func @fmod_of_unsigned(
// CHECK:         tcp.remui
// CHECK:         return
func.func @fmod_of_unsigned(%x: !torch.vtensor<[?,3],ui8>, %y: !torch.vtensor<[?,3],ui8>) -> !torch.vtensor<[?,3],ui8> {
  %0 = torch.aten.fmod.Tensor %x, %y : !torch.vtensor<[?,3],ui8>, !torch.vtensor<[?,3],ui8> -> !torch.vtensor<[?,3],ui8>
  return %0 : !torch.vtensor<[?,3],ui8>
}

// CHECK-LABEL: func.func @floor_divide_of_unsigned(
// CHECK:         tcp.divui {{.*}}<rounding_mode Floor>
// CHECK:         return
func.func @floor_divide_of_unsigned(%x: !torch.vtensor<[?,3],ui8>, %y: !torch.vtensor<[?,3],ui8>) -> !torch.vtensor<[?,3],ui8> {
  %0 = torch.aten.floor_divide %x, %y : !torch.vtensor<[?,3],ui8>, !torch.vtensor<[?,3],ui8> -> !torch.vtensor<[?,3],ui8>
  return %0 : !torch.vtensor<[?,3],ui8>
}

// CHECK-LABEL: func.func @right_shift_of_unsigned(
// CHECK:         tcp.shrui
// CHECK:         return
func.func @right_shift_of_unsigned(%x: !torch.vtensor<[?,3],ui8>, %y: !torch.vtensor<[?,3],ui8>) -> !torch.vtensor<[?,3],ui8> {
  %0 = torch.aten.bitwise_right_shift.Tensor %x, %y : !torch.vtensor<[?,3],ui8>, !torch.vtensor<[?,3],ui8> -> !torch.vtensor<[?,3],ui8>
  return %0 : !torch.vtensor<[?,3],ui8>
}

// CHECK-LABEL: func.func @view_dtype(
// CHECK:         tcp.bitcast {{.*}} : tensor<?x3xf32> -> tensor<?x3xi32>
// CHECK:         return
func.func @view_dtype(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],si32> {
  %int3 = torch.constant.int 3
  %0 = torch.aten.view.dtype %x, %int3 : !torch.vtensor<[?,3],f32>, !torch.int -> !torch.vtensor<[?,3],si32>
  return %0 : !torch.vtensor<[?,3],si32>
}
