// RUN: tcp-opt %s -convert-stablehlo-to-tcp -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @unary(
// CHECK:         tcp.ceil
// CHECK:         tcp.cos
// CHECK:         tcp.exp
// CHECK:         tcp.expm1
// CHECK:         tcp.floor
// CHECK:         tcp.log
// CHECK:         tcp.log1p
// CHECK:         tcp.sigmoid
// CHECK:         tcp.round
// CHECK:         tcp.round_even
// CHECK:         tcp.rsqrt
// CHECK:         tcp.sin
// CHECK:         tcp.sqrt
// CHECK:         tcp.tan
// CHECK:         tcp.tanh
// CHECK:         tcp.abs
// CHECK:         tcp.neg
func.func @unary(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.ceil %x : tensor<?xf32>
  %1 = stablehlo.cosine %0 : tensor<?xf32>
  %2 = stablehlo.exponential %1 : tensor<?xf32>
  %3 = stablehlo.exponential_minus_one %2 : tensor<?xf32>
  %4 = stablehlo.floor %3 : tensor<?xf32>
  %5 = stablehlo.log %4 : tensor<?xf32>
  %6 = stablehlo.log_plus_one %5 : tensor<?xf32>
  %7 = stablehlo.logistic %6 : tensor<?xf32>
  %8 = stablehlo.round_nearest_afz %7 : tensor<?xf32>
  %9 = stablehlo.round_nearest_even %8 : tensor<?xf32>
  %10 = stablehlo.rsqrt %9 : tensor<?xf32>
  %11 = stablehlo.sine %10 : tensor<?xf32>
  %12 = stablehlo.sqrt %11 : tensor<?xf32>
  %13 = stablehlo.tan %12 : tensor<?xf32>
  %14 = stablehlo.tanh %13 : tensor<?xf32>
  %15 = stablehlo.abs %14 : tensor<?xf32>
  %16 = stablehlo.negate %15 : tensor<?xf32>
  return %16 : tensor<?xf32>
}

// -----

// CHECK-LABEL: func.func @binary_floats(
// CHECK:         tcp.add
// CHECK:         tcp.sub
// CHECK:         tcp.mul
// CHECK:         tcp.divf
// CHECK:         tcp.remf
// CHECK:         tcp.pow
// CHECK:         tcp.atan2
// CHECK:         tcp.maximum
// CHECK:         tcp.minimum
func.func @binary_floats(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.add %x, %y : tensor<?xf32>
  %1 = stablehlo.subtract %0, %y : tensor<?xf32>
  %2 = stablehlo.multiply %1, %y : tensor<?xf32>
  %3 = stablehlo.divide %2, %y : tensor<?xf32>
  %4 = stablehlo.remainder %3, %y : tensor<?xf32>
  %5 = stablehlo.power %4, %y : tensor<?xf32>
  %6 = stablehlo.atan2 %5, %y : tensor<?xf32>
  %7 = stablehlo.maximum %6, %y : tensor<?xf32>
  %8 = stablehlo.minimum %7, %y : tensor<?xf32>
  return %8 : tensor<?xf32>
}

// -----

// CHECK-LABEL: func.func @binary_integers(
// CHECK:         tcp.add
// CHECK:         tcp.sub
// CHECK:         tcp.mul
// CHECK:         tcp.divsi {{.*}} {rounding_mode = #tcp<rounding_mode Trunc>} :
// CHECK:         tcp.remsi
// CHECK:         tcp.maximum
// CHECK:         tcp.minimum
// CHECK:         tcp.bitwise_and
// CHECK:         tcp.bitwise_or
// CHECK:         tcp.bitwise_xor
// CHECK:         tcp.shli
// CHECK:         tcp.shrsi
// CHECK:         tcp.shrui
func.func @binary_integers(%x: tensor<?xi32>, %y: tensor<?xi32>) -> tensor<?xi32> {
  %0 = stablehlo.add %x, %y : tensor<?xi32>
  %1 = stablehlo.subtract %0, %y : tensor<?xi32>
  %2 = stablehlo.multiply %1, %y : tensor<?xi32>
  %3 = stablehlo.divide %2, %y : tensor<?xi32>
  %4 = stablehlo.remainder %3, %y : tensor<?xi32>
  %5 = stablehlo.maximum %4, %y : tensor<?xi32>
  %6 = stablehlo.minimum %5, %y : tensor<?xi32>
  %7 = stablehlo.and %6, %y : tensor<?xi32>
  %8 = stablehlo.or %7, %y : tensor<?xi32>
  %9 = stablehlo.xor %8, %y : tensor<?xi32>
  %10 = stablehlo.shift_left %9, %y : tensor<?xi32>
  %11 = stablehlo.shift_right_arithmetic %10, %y : tensor<?xi32>
  %12 = stablehlo.shift_right_logical %11, %y : tensor<?xi32>
  return %12 : tensor<?xi32>
}

// -----

// StableHLO has arithmetic on truth values, TCP has logic.

// CHECK-LABEL: func.func @binary_booleans(
// CHECK:         tcp.logical_or
// CHECK:         tcp.logical_and
// CHECK:         tcp.logical_or
// CHECK:         tcp.logical_and
// CHECK:         tcp.logical_and
// CHECK:         tcp.logical_or
// CHECK:         tcp.logical_xor
func.func @binary_booleans(%x: tensor<?xi1>, %y: tensor<?xi1>) -> tensor<?xi1> {
  %0 = stablehlo.add %x, %y : tensor<?xi1>
  %1 = stablehlo.multiply %0, %y : tensor<?xi1>
  %2 = stablehlo.maximum %1, %y : tensor<?xi1>
  %3 = stablehlo.minimum %2, %y : tensor<?xi1>
  %4 = stablehlo.and %3, %y : tensor<?xi1>
  %5 = stablehlo.or %4, %y : tensor<?xi1>
  %6 = stablehlo.xor %5, %y : tensor<?xi1>
  return %6 : tensor<?xi1>
}

// -----

// CHECK-LABEL: func.func @negations(
// CHECK:         tcp.bitwise_not %arg0
// CHECK:         tcp.logical_not %arg1
func.func @negations(%x: tensor<?xi32>, %y: tensor<?xi1>) -> (tensor<?xi32>, tensor<?xi1>) {
  %0 = stablehlo.not %x : tensor<?xi32>
  %1 = stablehlo.not %y : tensor<?xi1>
  return %0, %1 : tensor<?xi32>, tensor<?xi1>
}

// -----

// CHECK-LABEL: func.func @predicates(
// CHECK:         tcp.compare %arg0, %arg0 {predicate = #tcp<predicate ge>}
// CHECK:         tcp.isfinite %arg0
// CHECK:         tcp.select {{.*}}, %arg0, %arg0
// CHECK:         stablehlo.compare EQ, %arg0, %arg0, TOTALORDER
func.func @predicates(%x: tensor<?xf32>) -> (tensor<?xi1>, tensor<?xf32>, tensor<?xi1>) {
  %0 = stablehlo.compare GE, %x, %x, FLOAT : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xi1>
  %1 = stablehlo.is_finite %x : (tensor<?xf32>) -> tensor<?xi1>
  %2 = stablehlo.and %0, %1 : tensor<?xi1>
  %3 = stablehlo.select %2, %x, %x : tensor<?xi1>, tensor<?xf32>
  %4 = stablehlo.compare EQ, %x, %x, TOTALORDER : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xi1>
  return %2, %3, %4 : tensor<?xi1>, tensor<?xf32>, tensor<?xi1>
}

// -----

// One condition for all elements is none of TCP's.

// CHECK-LABEL: func.func @scalar_condition(
// CHECK:         stablehlo.select
func.func @scalar_condition(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.select %c, %x, %x : tensor<i1>, tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// CHECK-LABEL: func.func @convert(
// CHECK:         tcp.cast %arg0 {in_int_signedness = #tcp<signedness Signed>} : tensor<?xi8> -> tensor<?xf32>
// CHECK:         tcp.cast {{.*}} {out_int_signedness = #tcp<signedness Signless>} : tensor<?xf32> -> tensor<?xi1>
func.func @convert(%x: tensor<?xi8>) -> tensor<?xi1> {
  %0 = stablehlo.convert %x : (tensor<?xi8>) -> tensor<?xf32>
  %1 = stablehlo.convert %0 : (tensor<?xf32>) -> tensor<?xi1>
  return %1 : tensor<?xi1>
}
