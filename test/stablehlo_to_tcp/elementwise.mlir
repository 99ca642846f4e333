// RUN: tcp-opt %s -convert-stablehlo-to-tcp | FileCheck %s

// CHECK-LABEL: func.func @abs(
// CHECK:         tcp.abs
// CHECK:         tcp.abs
// CHECK:         return
func.func @abs(%x0: tensor<?xf32>, %x1: tensor<?xi32>) -> (tensor<?xf32>, tensor<?xi32>) {
  %0 = stablehlo.abs %x0 : tensor<?xf32>
  %1 = stablehlo.abs %x1 : tensor<?xi32>
  return %0, %1 : tensor<?xf32>, tensor<?xi32>
}

// CHECK-LABEL: func.func @cbrt(
// CHECK:         math.cbrt
// CHECK:         return
func.func @cbrt(%x0: tensor<?xf32>) -> (tensor<?xf32>) {
  %0 = stablehlo.cbrt %x0 : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @ceil(
// CHECK:         tcp.ceil
// CHECK:         return
func.func @ceil(%x0: tensor<?xf32>) -> (tensor<?xf32>) {
  %0 = stablehlo.ceil %x0 : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @cosine(
// CHECK:         tcp.cos
// CHECK:         return
func.func @cosine(%x0: tensor<?xf32>) -> (tensor<?xf32>) {
  %0 = stablehlo.cosine %x0 : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @count_leading_zeros(
// CHECK:         math.ctlz
// CHECK:         math.ctlz
// CHECK:         return
func.func @count_leading_zeros(%x0: tensor<?xi32>, %x1: tensor<?xui8>) -> (tensor<?xi32>, tensor<?xui8>) {
  %0 = stablehlo.count_leading_zeros %x0 : tensor<?xi32>
  %1 = stablehlo.count_leading_zeros %x1 : tensor<?xui8>
  return %0, %1 : tensor<?xi32>, tensor<?xui8>
}

// CHECK-LABEL: func.func @exponential(
// CHECK:         tcp.exp
// CHECK:         return
func.func @exponential(%x0: tensor<?xf32>) -> (tensor<?xf32>) {
  %0 = stablehlo.exponential %x0 : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @exponential_minus_one(
// CHECK:         tcp.expm1
// CHECK:         return
func.func @exponential_minus_one(%x0: tensor<?xf32>) -> (tensor<?xf32>) {
  %0 = stablehlo.exponential_minus_one %x0 : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @floor(
// CHECK:         tcp.floor
// CHECK:         return
func.func @floor(%x0: tensor<?xf32>) -> (tensor<?xf32>) {
  %0 = stablehlo.floor %x0 : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @log(
// CHECK:         tcp.log
// CHECK:         return
func.func @log(%x0: tensor<?xf32>) -> (tensor<?xf32>) {
  %0 = stablehlo.log %x0 : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @log_plus_one(
// CHECK:         tcp.log1p
// CHECK:         return
func.func @log_plus_one(%x0: tensor<?xf32>) -> (tensor<?xf32>) {
  %0 = stablehlo.log_plus_one %x0 : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @logistic(
// CHECK:         tcp.sigmoid
// CHECK:         return
func.func @logistic(%x0: tensor<?xf32>) -> (tensor<?xf32>) {
  %0 = stablehlo.logistic %x0 : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @negate(
// CHECK:         tcp.neg
// CHECK:         tcp.neg
// CHECK:         tcp.neg
// CHECK:         return
func.func @negate(%x0: tensor<?xf32>, %x1: tensor<?xi32>, %x2: tensor<?xui8>) -> (tensor<?xf32>, tensor<?xi32>, tensor<?xui8>) {
  %0 = stablehlo.negate %x0 : tensor<?xf32>
  %1 = stablehlo.negate %x1 : tensor<?xi32>
  %2 = stablehlo.negate %x2 : tensor<?xui8>
  return %0, %1, %2 : tensor<?xf32>, tensor<?xi32>, tensor<?xui8>
}

// CHECK-LABEL: func.func @not(
// CHECK:         tcp.bitwise_not
// CHECK:         tcp.bitwise_not
// CHECK:         tcp.logical_not
// CHECK:         return
func.func @not(%x0: tensor<?xi32>, %x1: tensor<?xui8>, %x2: tensor<?xi1>) -> (tensor<?xi32>, tensor<?xui8>, tensor<?xi1>) {
  %0 = stablehlo.not %x0 : tensor<?xi32>
  %1 = stablehlo.not %x1 : tensor<?xui8>
  %2 = stablehlo.not %x2 : tensor<?xi1>
  return %0, %1, %2 : tensor<?xi32>, tensor<?xui8>, tensor<?xi1>
}

// CHECK-LABEL: func.func @popcnt(
// CHECK:         math.ctpop
// CHECK:         math.ctpop
// CHECK:         return
func.func @popcnt(%x0: tensor<?xi32>, %x1: tensor<?xui8>) -> (tensor<?xi32>, tensor<?xui8>) {
  %0 = stablehlo.popcnt %x0 : tensor<?xi32>
  %1 = stablehlo.popcnt %x1 : tensor<?xui8>
  return %0, %1 : tensor<?xi32>, tensor<?xui8>
}

// CHECK-LABEL: func.func @round_nearest_afz(
// CHECK:         tcp.round
// CHECK:         return
func.func @round_nearest_afz(%x0: tensor<?xf32>) -> (tensor<?xf32>) {
  %0 = stablehlo.round_nearest_afz %x0 : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @round_nearest_even(
// CHECK:         tcp.round_even
// CHECK:         return
func.func @round_nearest_even(%x0: tensor<?xf32>) -> (tensor<?xf32>) {
  %0 = stablehlo.round_nearest_even %x0 : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @rsqrt(
// CHECK:         tcp.rsqrt
// CHECK:         return
func.func @rsqrt(%x0: tensor<?xf32>) -> (tensor<?xf32>) {
  %0 = stablehlo.rsqrt %x0 : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @sign(
// CHECK:         tcp.const
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.compare {{.*}} {predicate = #tcp<predicate gt>}
// CHECK:         tcp.const
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.select
// CHECK:         tcp.compare {{.*}} {predicate = #tcp<predicate lt>}
// CHECK:         tcp.const
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.select
// CHECK:         tcp.const
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.maximum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         return
func.func @sign(%x0: tensor<?xf32>, %x1: tensor<?xi32>) -> (tensor<?xf32>, tensor<?xi32>) {
  %0 = stablehlo.sign %x0 : tensor<?xf32>
  %1 = stablehlo.sign %x1 : tensor<?xi32>
  return %0, %1 : tensor<?xf32>, tensor<?xi32>
}

// CHECK-LABEL: func.func @sine(
// CHECK:         tcp.sin
// CHECK:         return
func.func @sine(%x0: tensor<?xf32>) -> (tensor<?xf32>) {
  %0 = stablehlo.sine %x0 : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @sqrt(
// CHECK:         tcp.sqrt
// CHECK:         return
func.func @sqrt(%x0: tensor<?xf32>) -> (tensor<?xf32>) {
  %0 = stablehlo.sqrt %x0 : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @tan(
// CHECK:         tcp.tan
// CHECK:         return
func.func @tan(%x0: tensor<?xf32>) -> (tensor<?xf32>) {
  %0 = stablehlo.tan %x0 : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @tanh(
// CHECK:         tcp.tanh
// CHECK:         return
func.func @tanh(%x0: tensor<?xf32>) -> (tensor<?xf32>) {
  %0 = stablehlo.tanh %x0 : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @add(
// CHECK:         tcp.add
// CHECK:         tcp.add
// CHECK:         tcp.add
// CHECK:         tcp.logical_or
// CHECK:         return
func.func @add(%x0: tensor<?xf32>, %y0: tensor<?xf32>, %x1: tensor<?xi32>, %y1: tensor<?xi32>, %x2: tensor<?xui8>, %y2: tensor<?xui8>, %x3: tensor<?xi1>, %y3: tensor<?xi1>) -> (tensor<?xf32>, tensor<?xi32>, tensor<?xui8>, tensor<?xi1>) {
  %0 = stablehlo.add %x0, %y0 : tensor<?xf32>
  %1 = stablehlo.add %x1, %y1 : tensor<?xi32>
  %2 = stablehlo.add %x2, %y2 : tensor<?xui8>
  %3 = stablehlo.add %x3, %y3 : tensor<?xi1>
  return %0, %1, %2, %3 : tensor<?xf32>, tensor<?xi32>, tensor<?xui8>, tensor<?xi1>
}

// CHECK-LABEL: func.func @and(
// CHECK:         tcp.bitwise_and
// CHECK:         tcp.bitwise_and
// CHECK:         tcp.logical_and
// CHECK:         return
func.func @and(%x0: tensor<?xi32>, %y0: tensor<?xi32>, %x1: tensor<?xui8>, %y1: tensor<?xui8>, %x2: tensor<?xi1>, %y2: tensor<?xi1>) -> (tensor<?xi32>, tensor<?xui8>, tensor<?xi1>) {
  %0 = stablehlo.and %x0, %y0 : tensor<?xi32>
  %1 = stablehlo.and %x1, %y1 : tensor<?xui8>
  %2 = stablehlo.and %x2, %y2 : tensor<?xi1>
  return %0, %1, %2 : tensor<?xi32>, tensor<?xui8>, tensor<?xi1>
}

// CHECK-LABEL: func.func @atan2(
// CHECK:         tcp.atan2
// CHECK:         return
func.func @atan2(%x0: tensor<?xf32>, %y0: tensor<?xf32>) -> (tensor<?xf32>) {
  %0 = stablehlo.atan2 %x0, %y0 : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @divide(
// CHECK:         tcp.divf
// CHECK:         tcp.divsi {{.*}} {rounding_mode = #tcp<rounding_mode Trunc>}
// CHECK:         tcp.divui {{.*}} {rounding_mode = #tcp<rounding_mode Trunc>}
// CHECK:         return
func.func @divide(%x0: tensor<?xf32>, %y0: tensor<?xf32>, %x1: tensor<?xi32>, %y1: tensor<?xi32>, %x2: tensor<?xui8>, %y2: tensor<?xui8>) -> (tensor<?xf32>, tensor<?xi32>, tensor<?xui8>) {
  %0 = stablehlo.divide %x0, %y0 : tensor<?xf32>
  %1 = stablehlo.divide %x1, %y1 : tensor<?xi32>
  %2 = stablehlo.divide %x2, %y2 : tensor<?xui8>
  return %0, %1, %2 : tensor<?xf32>, tensor<?xi32>, tensor<?xui8>
}

// CHECK-LABEL: func.func @maximum(
// CHECK:         tcp.maximum
// CHECK:         tcp.maximum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.maximum {{.*}} {int_signedness = #tcp<signedness Unsigned>}
// CHECK:         tcp.logical_or
// CHECK:         return
func.func @maximum(%x0: tensor<?xf32>, %y0: tensor<?xf32>, %x1: tensor<?xi32>, %y1: tensor<?xi32>, %x2: tensor<?xui8>, %y2: tensor<?xui8>, %x3: tensor<?xi1>, %y3: tensor<?xi1>) -> (tensor<?xf32>, tensor<?xi32>, tensor<?xui8>, tensor<?xi1>) {
  %0 = stablehlo.maximum %x0, %y0 : tensor<?xf32>
  %1 = stablehlo.maximum %x1, %y1 : tensor<?xi32>
  %2 = stablehlo.maximum %x2, %y2 : tensor<?xui8>
  %3 = stablehlo.maximum %x3, %y3 : tensor<?xi1>
  return %0, %1, %2, %3 : tensor<?xf32>, tensor<?xi32>, tensor<?xui8>, tensor<?xi1>
}

// CHECK-LABEL: func.func @minimum(
// CHECK:         tcp.minimum
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Unsigned>}
// CHECK:         tcp.logical_and
// CHECK:         return
func.func @minimum(%x0: tensor<?xf32>, %y0: tensor<?xf32>, %x1: tensor<?xi32>, %y1: tensor<?xi32>, %x2: tensor<?xui8>, %y2: tensor<?xui8>, %x3: tensor<?xi1>, %y3: tensor<?xi1>) -> (tensor<?xf32>, tensor<?xi32>, tensor<?xui8>, tensor<?xi1>) {
  %0 = stablehlo.minimum %x0, %y0 : tensor<?xf32>
  %1 = stablehlo.minimum %x1, %y1 : tensor<?xi32>
  %2 = stablehlo.minimum %x2, %y2 : tensor<?xui8>
  %3 = stablehlo.minimum %x3, %y3 : tensor<?xi1>
  return %0, %1, %2, %3 : tensor<?xf32>, tensor<?xi32>, tensor<?xui8>, tensor<?xi1>
}

// CHECK-LABEL: func.func @multiply(
// CHECK:         tcp.mul
// CHECK:         tcp.mul
// CHECK:         tcp.mul
// CHECK:         tcp.logical_and
// CHECK:         return
func.func @multiply(%x0: tensor<?xf32>, %y0: tensor<?xf32>, %x1: tensor<?xi32>, %y1: tensor<?xi32>, %x2: tensor<?xui8>, %y2: tensor<?xui8>, %x3: tensor<?xi1>, %y3: tensor<?xi1>) -> (tensor<?xf32>, tensor<?xi32>, tensor<?xui8>, tensor<?xi1>) {
  %0 = stablehlo.multiply %x0, %y0 : tensor<?xf32>
  %1 = stablehlo.multiply %x1, %y1 : tensor<?xi32>
  %2 = stablehlo.multiply %x2, %y2 : tensor<?xui8>
  %3 = stablehlo.multiply %x3, %y3 : tensor<?xi1>
  return %0, %1, %2, %3 : tensor<?xf32>, tensor<?xi32>, tensor<?xui8>, tensor<?xi1>
}

// CHECK-LABEL: func.func @or(
// CHECK:         tcp.bitwise_or
// CHECK:         tcp.bitwise_or
// CHECK:         tcp.logical_or
// CHECK:         return
func.func @or(%x0: tensor<?xi32>, %y0: tensor<?xi32>, %x1: tensor<?xui8>, %y1: tensor<?xui8>, %x2: tensor<?xi1>, %y2: tensor<?xi1>) -> (tensor<?xi32>, tensor<?xui8>, tensor<?xi1>) {
  %0 = stablehlo.or %x0, %y0 : tensor<?xi32>
  %1 = stablehlo.or %x1, %y1 : tensor<?xui8>
  %2 = stablehlo.or %x2, %y2 : tensor<?xi1>
  return %0, %1, %2 : tensor<?xi32>, tensor<?xui8>, tensor<?xi1>
}

// CHECK-LABEL: func.func @power(
// CHECK:         tcp.pow
// CHECK:         tcp.pow
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Unsigned>, out_int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Unsigned>, out_int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.pow
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Signed>, out_int_signedness = #tcp<signedness Unsigned>}
// CHECK:         return
func.func @power(%x0: tensor<?xf32>, %y0: tensor<?xf32>, %x1: tensor<?xi32>, %y1: tensor<?xi32>, %x2: tensor<?xui8>, %y2: tensor<?xui8>) -> (tensor<?xf32>, tensor<?xi32>, tensor<?xui8>) {
  %0 = stablehlo.power %x0, %y0 : tensor<?xf32>
  %1 = stablehlo.power %x1, %y1 : tensor<?xi32>
  %2 = stablehlo.power %x2, %y2 : tensor<?xui8>
  return %0, %1, %2 : tensor<?xf32>, tensor<?xi32>, tensor<?xui8>
}

// CHECK-LABEL: func.func @subtract(
// CHECK:         tcp.sub
// CHECK:         tcp.sub
// CHECK:         tcp.sub
// CHECK:         return
func.func @subtract(%x0: tensor<?xf32>, %y0: tensor<?xf32>, %x1: tensor<?xi32>, %y1: tensor<?xi32>, %x2: tensor<?xui8>, %y2: tensor<?xui8>) -> (tensor<?xf32>, tensor<?xi32>, tensor<?xui8>) {
  %0 = stablehlo.subtract %x0, %y0 : tensor<?xf32>
  %1 = stablehlo.subtract %x1, %y1 : tensor<?xi32>
  %2 = stablehlo.subtract %x2, %y2 : tensor<?xui8>
  return %0, %1, %2 : tensor<?xf32>, tensor<?xi32>, tensor<?xui8>
}

// CHECK-LABEL: func.func @xor(
// CHECK:         tcp.bitwise_xor
// CHECK:         tcp.bitwise_xor
// CHECK:         tcp.logical_xor
// CHECK:         return
func.func @xor(%x0: tensor<?xi32>, %y0: tensor<?xi32>, %x1: tensor<?xui8>, %y1: tensor<?xui8>, %x2: tensor<?xi1>, %y2: tensor<?xi1>) -> (tensor<?xi32>, tensor<?xui8>, tensor<?xi1>) {
  %0 = stablehlo.xor %x0, %y0 : tensor<?xi32>
  %1 = stablehlo.xor %x1, %y1 : tensor<?xui8>
  %2 = stablehlo.xor %x2, %y2 : tensor<?xi1>
  return %0, %1, %2 : tensor<?xi32>, tensor<?xui8>, tensor<?xi1>
}

// CHECK-LABEL: func.func @remainder(
// CHECK:         tcp.remf
// CHECK:         tcp.remsi
// CHECK:         tcp.remui
// CHECK:         return
func.func @remainder(%x0: tensor<?xf32>, %y0: tensor<?xf32>, %x1: tensor<?xi32>, %y1: tensor<?xi32>, %x2: tensor<?xui8>, %y2: tensor<?xui8>) -> (tensor<?xf32>, tensor<?xi32>, tensor<?xui8>) {
  %0 = stablehlo.remainder %x0, %y0 : tensor<?xf32>
  %1 = stablehlo.remainder %x1, %y1 : tensor<?xi32>
  %2 = stablehlo.remainder %x2, %y2 : tensor<?xui8>
  return %0, %1, %2 : tensor<?xf32>, tensor<?xi32>, tensor<?xui8>
}

// CHECK-LABEL: func.func @shift_left(
// CHECK:         tcp.shli
// CHECK:         tcp.shli
// CHECK:         return
func.func @shift_left(%x0: tensor<?xi32>, %y0: tensor<?xi32>, %x1: tensor<?xui8>, %y1: tensor<?xui8>) -> (tensor<?xi32>, tensor<?xui8>) {
  %0 = stablehlo.shift_left %x0, %y0 : tensor<?xi32>
  %1 = stablehlo.shift_left %x1, %y1 : tensor<?xui8>
  return %0, %1 : tensor<?xi32>, tensor<?xui8>
}

// CHECK-LABEL: func.func @shift_right_arithmetic(
// CHECK:         tcp.shrsi
// CHECK:         tcp.shrsi
// CHECK:         return
func.func @shift_right_arithmetic(%x0: tensor<?xi32>, %y0: tensor<?xi32>, %x1: tensor<?xui8>, %y1: tensor<?xui8>) -> (tensor<?xi32>, tensor<?xui8>) {
  %0 = stablehlo.shift_right_arithmetic %x0, %y0 : tensor<?xi32>
  %1 = stablehlo.shift_right_arithmetic %x1, %y1 : tensor<?xui8>
  return %0, %1 : tensor<?xi32>, tensor<?xui8>
}

// CHECK-LABEL: func.func @shift_right_logical(
// CHECK:         tcp.shrui
// CHECK:         tcp.shrui
// CHECK:         return
func.func @shift_right_logical(%x0: tensor<?xi32>, %y0: tensor<?xi32>, %x1: tensor<?xui8>, %y1: tensor<?xui8>) -> (tensor<?xi32>, tensor<?xui8>) {
  %0 = stablehlo.shift_right_logical %x0, %y0 : tensor<?xi32>
  %1 = stablehlo.shift_right_logical %x1, %y1 : tensor<?xui8>
  return %0, %1 : tensor<?xi32>, tensor<?xui8>
}

// CHECK-LABEL: func.func @chlo_acos(
// CHECK:         tcp.acos
// CHECK:         return
func.func @chlo_acos(%x: tensor<?xf32>) -> (tensor<?xf32>) {
  %0 = chlo.acos %x : tensor<?xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @chlo_asin(
// CHECK:         tcp.asin
// CHECK:         return
func.func @chlo_asin(%x: tensor<?xf32>) -> (tensor<?xf32>) {
  %0 = chlo.asin %x : tensor<?xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @chlo_asinh(
// CHECK:         tcp.asinh
// CHECK:         return
func.func @chlo_asinh(%x: tensor<?xf32>) -> (tensor<?xf32>) {
  %0 = chlo.asinh %x : tensor<?xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @chlo_atan(
// CHECK:         tcp.atan
// CHECK:         return
func.func @chlo_atan(%x: tensor<?xf32>) -> (tensor<?xf32>) {
  %0 = chlo.atan %x : tensor<?xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @chlo_cosh(
// CHECK:         tcp.cosh
// CHECK:         return
func.func @chlo_cosh(%x: tensor<?xf32>) -> (tensor<?xf32>) {
  %0 = chlo.cosh %x : tensor<?xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @chlo_erf(
// CHECK:         tcp.erf
// CHECK:         return
func.func @chlo_erf(%x: tensor<?xf32>) -> (tensor<?xf32>) {
  %0 = chlo.erf %x : tensor<?xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @chlo_erfc(
// CHECK:         tcp.erfc
// CHECK:         return
func.func @chlo_erfc(%x: tensor<?xf32>) -> (tensor<?xf32>) {
  %0 = chlo.erfc %x : tensor<?xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @chlo_sinh(
// CHECK:         tcp.sinh
// CHECK:         return
func.func @chlo_sinh(%x: tensor<?xf32>) -> (tensor<?xf32>) {
  %0 = chlo.sinh %x : tensor<?xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @chlo_tan(
// CHECK:         tcp.tan
// CHECK:         return
func.func @chlo_tan(%x: tensor<?xf32>) -> (tensor<?xf32>) {
  %0 = chlo.tan %x : tensor<?xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @chlo_is_inf(
// CHECK:         tcp.isinf
// CHECK:         return
func.func @chlo_is_inf(%x: tensor<?xf32>) -> (tensor<?xi1>) {
  %0 = chlo.is_inf %x : tensor<?xf32> -> tensor<?xi1>
  return %0 : tensor<?xi1>
}

// CHECK-LABEL: func.func @is_finite(
// CHECK:         tcp.isfinite
// CHECK:         return
func.func @is_finite(%x: tensor<?xf32>) -> (tensor<?xi1>) {
  %0 = stablehlo.is_finite %x : (tensor<?xf32>) -> tensor<?xi1>
  return %0 : tensor<?xi1>
}

// CHECK-LABEL: func.func @compare_floats(
// CHECK:         tcp.compare {{.*}} {predicate = #tcp<predicate ge>}
// CHECK:         return
func.func @compare_floats(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xi1>) {
  %0 = stablehlo.compare GE, %x, %y, FLOAT : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xi1>
  return %0 : tensor<?xi1>
}

// CHECK-LABEL: func.func @compare_signed(
// CHECK:         tcp.compare {{.*}} {int_signedness = #tcp<signedness Signed>, predicate = #tcp<predicate ge>}
// CHECK:         return
func.func @compare_signed(%x: tensor<?xi32>, %y: tensor<?xi32>) -> (tensor<?xi1>) {
  %0 = stablehlo.compare GE, %x, %y, SIGNED : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi1>
  return %0 : tensor<?xi1>
}

// CHECK-LABEL: func.func @compare_unsigned(
// CHECK:         tcp.compare {{.*}} {int_signedness = #tcp<signedness Unsigned>, predicate = #tcp<predicate ge>}
// CHECK:         return
func.func @compare_unsigned(%x: tensor<?xui8>, %y: tensor<?xui8>) -> (tensor<?xi1>) {
  %0 = stablehlo.compare GE, %x, %y, UNSIGNED : (tensor<?xui8>, tensor<?xui8>) -> tensor<?xi1>
  return %0 : tensor<?xi1>
}

// CHECK-LABEL: func.func @compare_booleans(
// CHECK:         tcp.compare {{.*}} {int_signedness = #tcp<signedness Signless>, predicate = #tcp<predicate ge>}
// CHECK:         return
func.func @compare_booleans(%x: tensor<?xi1>, %y: tensor<?xi1>) -> (tensor<?xi1>) {
  %0 = stablehlo.compare GE, %x, %y, UNSIGNED : (tensor<?xi1>, tensor<?xi1>) -> tensor<?xi1>
  return %0 : tensor<?xi1>
}

// CHECK-LABEL: func.func @compare_in_total_order(
// CHECK:         tcp.bitcast
// CHECK:         tcp.const
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.const
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.compare {{.*}} {predicate = #tcp<predicate lt>}
// CHECK:         tcp.bitwise_xor
// CHECK:         tcp.select
// CHECK:         tcp.bitcast
// CHECK:         tcp.const
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.const
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.compare {{.*}} {predicate = #tcp<predicate lt>}
// CHECK:         tcp.bitwise_xor
// CHECK:         tcp.select
// CHECK:         tcp.compare {{.*}} {int_signedness = #tcp<signedness Signed>, predicate = #tcp<predicate ge>}
// CHECK:         return
func.func @compare_in_total_order(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xi1>) {
  %0 = stablehlo.compare GE, %x, %y, TOTALORDER : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xi1>
  return %0 : tensor<?xi1>
}

// CHECK-LABEL: func.func @convert_i8_f32(
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Signed>}
// CHECK:         return
func.func @convert_i8_f32(%x: tensor<?xi8>) -> (tensor<?xf32>) {
  %0 = stablehlo.convert %x : (tensor<?xi8>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @convert_ui8_f32(
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Unsigned>}
// CHECK:         return
func.func @convert_ui8_f32(%x: tensor<?xui8>) -> (tensor<?xf32>) {
  %0 = stablehlo.convert %x : (tensor<?xui8>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @convert_f32_i1(
// CHECK:         tcp.cast {{.*}} {out_int_signedness = #tcp<signedness Signless>}
// CHECK:         return
func.func @convert_f32_i1(%x: tensor<?xf32>) -> (tensor<?xi1>) {
  %0 = stablehlo.convert %x : (tensor<?xf32>) -> tensor<?xi1>
  return %0 : tensor<?xi1>
}

// NaN is 0, and 2^31, which no f32 below it can be told from it by clamping, the greatest integer.

// CHECK-LABEL: func.func @convert_f32_i32(
// CHECK:         tcp.compare {{.*}} {predicate = #tcp<predicate eq>}
// CHECK:         tcp.select
// CHECK:         tcp.maximum
// CHECK:         tcp.minimum
// CHECK:         tcp.cast {{.*}} {out_int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.compare {{.*}} {predicate = #tcp<predicate gt>}
// CHECK:         tcp.select
// CHECK:         return
func.func @convert_f32_i32(%x: tensor<?xf32>) -> (tensor<?xi32>) {
  %0 = stablehlo.convert %x : (tensor<?xf32>) -> tensor<?xi32>
  return %0 : tensor<?xi32>
}

// A constant that is not 0 needs no choice.

// CHECK-LABEL: func.func @divide_by_three(
// CHECK-NOT:     tcp.select
// CHECK:         tcp.divsi
// CHECK-NOT:     tcp.select
// CHECK:         return
func.func @divide_by_three(%x: tensor<4xi32>) -> (tensor<4xi32>) {
  %c = stablehlo.constant dense<3> : tensor<i32>
  %y = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4xi32>
  %0 = stablehlo.divide %x, %y : tensor<4xi32>
  return %0 : tensor<4xi32>
}

// CHECK-LABEL: func.func @convert_f16_bf16(
// CHECK:         tcp.cast
// CHECK:         return
func.func @convert_f16_bf16(%x: tensor<?xf16>) -> (tensor<?xbf16>) {
  %0 = stablehlo.convert %x : (tensor<?xf16>) -> tensor<?xbf16>
  return %0 : tensor<?xbf16>
}

// CHECK-LABEL: func.func @convert_i32_ui8(
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Signed>, out_int_signedness = #tcp<signedness Unsigned>}
// CHECK:         return
func.func @convert_i32_ui8(%x: tensor<?xi32>) -> (tensor<?xui8>) {
  %0 = stablehlo.convert %x : (tensor<?xi32>) -> tensor<?xui8>
  return %0 : tensor<?xui8>
}

// CHECK-LABEL: func.func @bitcast_convert(
// CHECK:         tcp.bitcast
// CHECK:         return
func.func @bitcast_convert(%x: tensor<?xf32>, %y: tensor<?xi8>) -> (tensor<?xui32>, tensor<?xui8>) {
  %0 = stablehlo.bitcast_convert %x : (tensor<?xf32>) -> tensor<?xui32>
  %1 = stablehlo.bitcast_convert %y : (tensor<?xi8>) -> tensor<?xui8>
  return %0, %1 : tensor<?xui32>, tensor<?xui8>
}

// CHECK-LABEL: func.func @clamp(
// CHECK:         tcp.maximum
// CHECK:         tcp.minimum
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.maximum
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.minimum
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.maximum {{.*}} {int_signedness = #tcp<signedness Unsigned>}
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Unsigned>}
// CHECK:         return
func.func @clamp(%l: tensor<?xf32>, %x: tensor<?xf32>, %h: tensor<?xf32>, %s: tensor<f32>, %t: tensor<f32>, %i: tensor<?xui8>, %j: tensor<ui8>, %k: tensor<ui8>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xui8>) {
  %0 = stablehlo.clamp %l, %x, %h : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %1 = stablehlo.clamp %s, %x, %t : (tensor<f32>, tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %2 = stablehlo.clamp %j, %i, %k : (tensor<ui8>, tensor<?xui8>, tensor<ui8>) -> tensor<?xui8>
  return %0, %1, %2 : tensor<?xf32>, tensor<?xf32>, tensor<?xui8>
}

// CHECK-LABEL: func.func @select(
// CHECK:         tcp.select
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.select
// CHECK:         return
func.func @select(%c: tensor<?xi1>, %s: tensor<i1>, %x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = stablehlo.select %c, %x, %y : tensor<?xi1>, tensor<?xf32>
  %1 = stablehlo.select %s, %x, %y : tensor<i1>, tensor<?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?xf32>
}

// CHECK-LABEL: func.func @reduce_precision(
// CHECK:         tcp.cast
// CHECK:         tcp.cast
// CHECK:         tcp.cast
// CHECK:         tcp.cast
// CHECK:         return
func.func @reduce_precision(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = stablehlo.reduce_precision %x, format = e8m7 : tensor<?xf32>
  %1 = stablehlo.reduce_precision %x, format = e5m10 : tensor<?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?xf32>
}
