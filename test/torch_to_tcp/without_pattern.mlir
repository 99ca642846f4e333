// RUN: tcp-opt %s -torch-backend-to-tcp-backend-pipeline | FileCheck %s
// RUN: tcp-opt %s -convert-torch-to-tcp=convert-torch-ops=aten.zeros_like,aten.batch_norm | FileCheck %s --check-prefix=NAMED

// Ops that have no pattern of their own are taken apart into ops that have. They may be named among
// those to convert, of which there are none then.

// NAMED:         torch.aten.zeros_like
// NAMED:         torch.aten.batch_norm

// CHECK-LABEL: func.func @zeros_and_ones(
// CHECK-DAG:     tcp.const {value = dense<0.000000e+00>
// CHECK-DAG:     tcp.const {value = dense<1.000000e+00>
// CHECK-COUNT-2: tcp.broadcast
// CHECK:         return
func.func @zeros_and_ones(%x: !torch.vtensor<[?,3],f32>) -> (!torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],f32>, !torch.int) {
  %none = torch.constant.none
  %int0 = torch.constant.int 0
  %0 = torch.aten.zeros_like %x, %none, %none, %none, %none, %none : !torch.vtensor<[?,3],f32>, !torch.none, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[?,3],f32>
  %1 = torch.aten.ones_like %x, %none, %none, %none, %none, %none : !torch.vtensor<[?,3],f32>, !torch.none, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[?,3],f32>
  %2 = torch.aten.size.int %x, %int0 : !torch.vtensor<[?,3],f32>, !torch.int -> !torch.int
  return %0, %1, %2 : !torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],f32>, !torch.int
}

// CHECK-LABEL: func.func @batch_norm(
// CHECK:         tcp.rsqrt
// CHECK:         tcp.sub
// CHECK:         return
func.func @batch_norm(%x: !torch.vtensor<[?,3,4,4],f32>, %w: !torch.vtensor<[3],f32>) -> !torch.vtensor<[?,3,4,4],f32> {
  %false = torch.constant.bool false
  %true = torch.constant.bool true
  %f = torch.constant.float 1.0e-5
  %g = torch.constant.float 1.0e-1
  %0 = torch.aten.batch_norm %x, %w, %w, %w, %w, %false, %g, %f, %true : !torch.vtensor<[?,3,4,4],f32>, !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>, !torch.vtensor<[3],f32>, !torch.bool, !torch.float, !torch.float, !torch.bool -> !torch.vtensor<[?,3,4,4],f32>
  return %0 : !torch.vtensor<[?,3,4,4],f32>
}

// CHECK-LABEL: func.func @topk(
// CHECK:         tm_tensor.sort
// CHECK-COUNT-2: tcp.slice
// CHECK:         return
func.func @topk(%x: !torch.vtensor<[3,8],f32>) -> (!torch.vtensor<[3,2],f32>, !torch.vtensor<[3,2],si64>) {
  %int2 = torch.constant.int 2
  %int1 = torch.constant.int 1
  %true = torch.constant.bool true
  %0, %1 = torch.aten.topk %x, %int2, %int1, %true, %true : !torch.vtensor<[3,8],f32>, !torch.int, !torch.int, !torch.bool, !torch.bool -> !torch.vtensor<[3,2],f32>, !torch.vtensor<[3,2],si64>
  return %0, %1 : !torch.vtensor<[3,2],f32>, !torch.vtensor<[3,2],si64>
}

// It stays one op, with all that it is called with.
// CHECK-LABEL: func.func @fake_quantize(
// CHECK:         tcp.custom_op("torch.aten.fake_quantize_per_tensor_affine") %{{.*}} {quant_max = 127 : i64, quant_min = -128 : i64, scale = 1.000000e-01 : f64
// CHECK:         return
func.func @fake_quantize(%x: !torch.vtensor<[3,8],f32>) -> !torch.vtensor<[3,8],f32> {
  %s = torch.constant.float 1.0e-1
  %z = torch.constant.int 0
  %lo = torch.constant.int -128
  %hi = torch.constant.int 127
  %0 = torch.aten.fake_quantize_per_tensor_affine %x, %s, %z, %lo, %hi : !torch.vtensor<[3,8],f32>, !torch.float, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[3,8],f32>
  return %0 : !torch.vtensor<[3,8],f32>
}
