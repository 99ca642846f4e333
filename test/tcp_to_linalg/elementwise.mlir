// RUN: tcp-opt %s -convert-tcp-to-linalg -canonicalize -cse -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @acos(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         math.acos
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @acos(%arg0: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = tcp.acos %arg0 : tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @asin(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         math.asin
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @asin(%arg0: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = tcp.asin %arg0 : tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @atan(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         math.atan
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @atan(%arg0: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = tcp.atan %arg0 : tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @ceil(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         math.ceil
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @ceil(%arg0: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = tcp.ceil %arg0 : tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @cos(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         math.cos
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @cos(%arg0: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = tcp.cos %arg0 : tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @cosh(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         math.cosh
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @cosh(%arg0: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = tcp.cosh %arg0 : tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @erf(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         math.erf
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @erf(%arg0: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = tcp.erf %arg0 : tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @erfc(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         math.erfc
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @erfc(%arg0: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = tcp.erfc %arg0 : tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @exp(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         math.exp
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @exp(%arg0: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = tcp.exp %arg0 : tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @expm1(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         math.expm1
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @expm1(%arg0: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = tcp.expm1 %arg0 : tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @floor(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         math.floor
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @floor(%arg0: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = tcp.floor %arg0 : tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @log(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         math.log
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @log(%arg0: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = tcp.log %arg0 : tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @log1p(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         math.log1p
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @log1p(%arg0: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = tcp.log1p %arg0 : tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @round(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         math.round
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @round(%arg0: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = tcp.round %arg0 : tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @round_even(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         math.roundeven
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @round_even(%arg0: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = tcp.round_even %arg0 : tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @rsqrt(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         math.rsqrt
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @rsqrt(%arg0: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = tcp.rsqrt %arg0 : tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @sigmoid(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.negf
// CHECK:         math.exp
// CHECK:         arith.addf
// CHECK:         arith.divf
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @sigmoid(%arg0: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = tcp.sigmoid %arg0 : tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @sin(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         math.sin
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @sin(%arg0: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = tcp.sin %arg0 : tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @polynomial(
// CHECK-DAG:     %[[FIRST:.*]] = arith.constant 5.000000e-01 : f32
// CHECK-DAG:     %[[LAST:.*]] = arith.constant 3.000000e+00 : f32
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:           %[[PRODUCT:.*]] = arith.mulf %[[X:.*]], %[[LAST]] fastmath<contract> : f32
// CHECK:           %[[SUM:.*]] = arith.addf %[[PRODUCT]], %{{.*}} fastmath<contract> : f32
// CHECK:           %[[PRODUCT:.*]] = arith.mulf %[[SUM]], %[[X]] fastmath<contract> : f32
// CHECK:           arith.addf %[[PRODUCT]], %[[FIRST]] fastmath<contract> : f32
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @polynomial(%arg0: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = tcp.polynomial %arg0 {coefficients = [0.5, 2.0, 3.0]} : tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @fmuladd(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel"]
// CHECK:         ^bb0(%[[A:.*]]: f16, %[[B:.*]]: f16, %[[C:.*]]: f16, %{{.*}}: f16):
// CHECK-DAG:       %[[FIRST:.*]] = arith.extf %[[A]]
// CHECK-DAG:       %[[SECOND:.*]] = arith.extf %[[B]]
// CHECK-DAG:       %[[THIRD:.*]] = arith.extf %[[C]]
// CHECK:           %[[PRODUCT:.*]] = arith.mulf %[[FIRST]], %[[SECOND]] fastmath<contract> : f32
// CHECK:           %[[SUM:.*]] = arith.addf %[[PRODUCT]], %[[THIRD]] fastmath<contract> : f32
// CHECK:           arith.truncf %[[SUM]]
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @fmuladd(%arg0: tensor<?xf16>, %arg1: tensor<?xf16>, %arg2: tensor<?xf16>) -> tensor<?xf16> {
  %0 = tcp.fmuladd %arg0, %arg1, %arg2 : tensor<?xf16>, tensor<?xf16>, tensor<?xf16> -> tensor<?xf16>
  return %0 : tensor<?xf16>
}

// -----

// CHECK-LABEL: func.func @asinh(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         math.asinh
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @asinh(%arg0: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = tcp.asinh %arg0 : tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @sinh(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         math.sinh
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @sinh(%arg0: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = tcp.sinh %arg0 : tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @sqrt(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         math.sqrt
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @sqrt(%arg0: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = tcp.sqrt %arg0 : tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @tan(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         math.tan
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @tan(%arg0: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = tcp.tan %arg0 : tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @tanh(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         math.tanh
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @tanh(%arg0: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = tcp.tanh %arg0 : tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @abs(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         math.absf
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @abs(%arg0: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = tcp.abs %arg0 : tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @abs_2(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         math.absi
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @abs_2(%arg0: tensor<?x3xi32>) -> tensor<?x3xi32> {
  %0 = tcp.abs %arg0 : tensor<?x3xi32> -> tensor<?x3xi32>
  return %0 : tensor<?x3xi32>
}

// -----

// CHECK-LABEL: func.func @neg(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.negf
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @neg(%arg0: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = tcp.neg %arg0 : tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @neg_2(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.subi
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @neg_2(%arg0: tensor<?x3xi32>) -> tensor<?x3xi32> {
  %0 = tcp.neg %arg0 : tensor<?x3xi32> -> tensor<?x3xi32>
  return %0 : tensor<?x3xi32>
}

// -----

// CHECK-LABEL: func.func @isfinite(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         math.absf
// CHECK:         arith.cmpf olt,
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @isfinite(%arg0: tensor<?x3xf32>) -> tensor<?x3xi1> {
  %0 = tcp.isfinite %arg0 : tensor<?x3xf32> -> tensor<?x3xi1>
  return %0 : tensor<?x3xi1>
}

// -----

// CHECK-LABEL: func.func @isinf(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         math.absf
// CHECK:         arith.cmpf oeq,
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @isinf(%arg0: tensor<?x3xf32>) -> tensor<?x3xi1> {
  %0 = tcp.isinf %arg0 : tensor<?x3xf32> -> tensor<?x3xi1>
  return %0 : tensor<?x3xi1>
}

// -----

// CHECK-LABEL: func.func @isnan(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.cmpf uno,
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @isnan(%arg0: tensor<?x3xf32>) -> tensor<?x3xi1> {
  %0 = tcp.isnan %arg0 : tensor<?x3xf32> -> tensor<?x3xi1>
  return %0 : tensor<?x3xi1>
}

// -----

// CHECK-LABEL: func.func @signbit(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.bitcast
// CHECK:         arith.cmpi slt,
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @signbit(%arg0: tensor<?x3xf32>) -> tensor<?x3xi1> {
  %0 = tcp.signbit %arg0 : tensor<?x3xf32> -> tensor<?x3xi1>
  return %0 : tensor<?x3xi1>
}

// -----

// CHECK-LABEL: func.func @atan2(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         math.atan2
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @atan2(%arg0: tensor<?x3xf32>, %arg1: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = tcp.atan2 %arg0, %arg1 : tensor<?x3xf32>, tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @copysign(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         math.copysign
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @copysign(%arg0: tensor<?x3xf32>, %arg1: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = tcp.copysign %arg0, %arg1 : tensor<?x3xf32>, tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @divf(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.divf
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @divf(%arg0: tensor<?x3xf32>, %arg1: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = tcp.divf %arg0, %arg1 : tensor<?x3xf32>, tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @remf(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.remf
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @remf(%arg0: tensor<?x3xf32>, %arg1: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = tcp.remf %arg0, %arg1 : tensor<?x3xf32>, tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @bitwise_and(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.andi
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @bitwise_and(%arg0: tensor<?x3xi32>, %arg1: tensor<?x3xi32>) -> tensor<?x3xi32> {
  %0 = tcp.bitwise_and %arg0, %arg1 : tensor<?x3xi32>, tensor<?x3xi32> -> tensor<?x3xi32>
  return %0 : tensor<?x3xi32>
}

// -----

// CHECK-LABEL: func.func @bitwise_or(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.ori
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @bitwise_or(%arg0: tensor<?x3xi32>, %arg1: tensor<?x3xi32>) -> tensor<?x3xi32> {
  %0 = tcp.bitwise_or %arg0, %arg1 : tensor<?x3xi32>, tensor<?x3xi32> -> tensor<?x3xi32>
  return %0 : tensor<?x3xi32>
}

// -----

// CHECK-LABEL: func.func @bitwise_xor(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.xori
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @bitwise_xor(%arg0: tensor<?x3xi32>, %arg1: tensor<?x3xi32>) -> tensor<?x3xi32> {
  %0 = tcp.bitwise_xor %arg0, %arg1 : tensor<?x3xi32>, tensor<?x3xi32> -> tensor<?x3xi32>
  return %0 : tensor<?x3xi32>
}

// -----

// CHECK-LABEL: func.func @remsi(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.cmpi eq,
// CHECK:         arith.cmpi eq,
// CHECK:         arith.ori
// CHECK:         arith.select
// CHECK:         arith.remsi
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @remsi(%arg0: tensor<?x3xi32>, %arg1: tensor<?x3xi32>) -> tensor<?x3xi32> {
  %0 = tcp.remsi %arg0, %arg1 : tensor<?x3xi32>, tensor<?x3xi32> -> tensor<?x3xi32>
  return %0 : tensor<?x3xi32>
}

// -----

// CHECK-LABEL: func.func @remui(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.cmpi eq,
// CHECK:         arith.select
// CHECK:         arith.remui
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @remui(%arg0: tensor<?x3xi32>, %arg1: tensor<?x3xi32>) -> tensor<?x3xi32> {
  %0 = tcp.remui %arg0, %arg1 : tensor<?x3xi32>, tensor<?x3xi32> -> tensor<?x3xi32>
  return %0 : tensor<?x3xi32>
}

// -----

// CHECK-LABEL: func.func @shli(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.cmpi ult,
// CHECK:         arith.select
// CHECK:         arith.shli
// CHECK:         arith.select
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @shli(%arg0: tensor<?x3xi32>, %arg1: tensor<?x3xi32>) -> tensor<?x3xi32> {
  %0 = tcp.shli %arg0, %arg1 : tensor<?x3xi32>, tensor<?x3xi32> -> tensor<?x3xi32>
  return %0 : tensor<?x3xi32>
}

// -----

// CHECK-LABEL: func.func @shrsi(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.cmpi ult,
// CHECK:         arith.select
// CHECK:         arith.shrsi
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @shrsi(%arg0: tensor<?x3xi32>, %arg1: tensor<?x3xi32>) -> tensor<?x3xi32> {
  %0 = tcp.shrsi %arg0, %arg1 : tensor<?x3xi32>, tensor<?x3xi32> -> tensor<?x3xi32>
  return %0 : tensor<?x3xi32>
}

// -----

// CHECK-LABEL: func.func @shrui(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.cmpi ult,
// CHECK:         arith.select
// CHECK:         arith.shrui
// CHECK:         arith.select
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @shrui(%arg0: tensor<?x3xi32>, %arg1: tensor<?x3xi32>) -> tensor<?x3xi32> {
  %0 = tcp.shrui %arg0, %arg1 : tensor<?x3xi32>, tensor<?x3xi32> -> tensor<?x3xi32>
  return %0 : tensor<?x3xi32>
}

// -----

// CHECK-LABEL: func.func @divsi(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.cmpi eq,
// CHECK:         arith.cmpi eq,
// CHECK:         arith.ori
// CHECK:         arith.select
// CHECK:         arith.divsi
// CHECK:         arith.subi
// CHECK:         arith.select
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @divsi(%arg0: tensor<?x3xi32>, %arg1: tensor<?x3xi32>) -> tensor<?x3xi32> {
  %0 = tcp.divsi %arg0, %arg1 {rounding_mode = #tcp<rounding_mode Trunc>} : tensor<?x3xi32>, tensor<?x3xi32> -> tensor<?x3xi32>
  return %0 : tensor<?x3xi32>
}

// -----

// CHECK-LABEL: func.func @divsi_2(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.cmpi eq,
// CHECK:         arith.cmpi eq,
// CHECK:         arith.ori
// CHECK:         arith.select
// CHECK:         arith.divsi
// CHECK:         arith.subi
// CHECK:         arith.select
// CHECK:         arith.muli
// CHECK:         arith.subi
// CHECK:         arith.cmpi ne,
// CHECK:         arith.xori
// CHECK:         arith.cmpi slt,
// CHECK:         arith.andi
// CHECK:         arith.addi
// CHECK:         arith.select
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @divsi_2(%arg0: tensor<?x3xi32>, %arg1: tensor<?x3xi32>) -> tensor<?x3xi32> {
  %0 = tcp.divsi %arg0, %arg1 {rounding_mode = #tcp<rounding_mode Floor>} : tensor<?x3xi32>, tensor<?x3xi32> -> tensor<?x3xi32>
  return %0 : tensor<?x3xi32>
}

// -----

// CHECK-LABEL: func.func @divsi_3(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.cmpi eq,
// CHECK:         arith.cmpi eq,
// CHECK:         arith.ori
// CHECK:         arith.select
// CHECK:         arith.divsi
// CHECK:         arith.subi
// CHECK:         arith.select
// CHECK:         arith.muli
// CHECK:         arith.subi
// CHECK:         arith.cmpi ne,
// CHECK:         arith.xori
// CHECK:         arith.cmpi sge,
// CHECK:         arith.andi
// CHECK:         arith.addi
// CHECK:         arith.select
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @divsi_3(%arg0: tensor<?x3xi32>, %arg1: tensor<?x3xi32>) -> tensor<?x3xi32> {
  %0 = tcp.divsi %arg0, %arg1 {rounding_mode = #tcp<rounding_mode Ceil>} : tensor<?x3xi32>, tensor<?x3xi32> -> tensor<?x3xi32>
  return %0 : tensor<?x3xi32>
}

// -----

// CHECK-LABEL: func.func @divui(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.cmpi eq,
// CHECK:         arith.select
// CHECK:         arith.divui
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @divui(%arg0: tensor<?x3xi32>, %arg1: tensor<?x3xi32>) -> tensor<?x3xi32> {
  %0 = tcp.divui %arg0, %arg1 {rounding_mode = #tcp<rounding_mode Trunc>} : tensor<?x3xi32>, tensor<?x3xi32> -> tensor<?x3xi32>
  return %0 : tensor<?x3xi32>
}

// -----

// CHECK-LABEL: func.func @divui_2(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.cmpi eq,
// CHECK:         arith.select
// CHECK:         arith.divui
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @divui_2(%arg0: tensor<?x3xi32>, %arg1: tensor<?x3xi32>) -> tensor<?x3xi32> {
  %0 = tcp.divui %arg0, %arg1 {rounding_mode = #tcp<rounding_mode Floor>} : tensor<?x3xi32>, tensor<?x3xi32> -> tensor<?x3xi32>
  return %0 : tensor<?x3xi32>
}

// -----

// CHECK-LABEL: func.func @divui_3(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.cmpi eq,
// CHECK:         arith.select
// CHECK:         arith.divui
// CHECK:         arith.muli
// CHECK:         arith.subi
// CHECK:         arith.cmpi ne,
// CHECK:         arith.addi
// CHECK:         arith.select
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @divui_3(%arg0: tensor<?x3xi32>, %arg1: tensor<?x3xi32>) -> tensor<?x3xi32> {
  %0 = tcp.divui %arg0, %arg1 {rounding_mode = #tcp<rounding_mode Ceil>} : tensor<?x3xi32>, tensor<?x3xi32> -> tensor<?x3xi32>
  return %0 : tensor<?x3xi32>
}

// -----

// CHECK-LABEL: func.func @logical_and(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.andi
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @logical_and(%arg0: tensor<?x3xi1>, %arg1: tensor<?x3xi1>) -> tensor<?x3xi1> {
  %0 = tcp.logical_and %arg0, %arg1 : tensor<?x3xi1>, tensor<?x3xi1> -> tensor<?x3xi1>
  return %0 : tensor<?x3xi1>
}

// -----

// CHECK-LABEL: func.func @logical_or(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.ori
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @logical_or(%arg0: tensor<?x3xi1>, %arg1: tensor<?x3xi1>) -> tensor<?x3xi1> {
  %0 = tcp.logical_or %arg0, %arg1 : tensor<?x3xi1>, tensor<?x3xi1> -> tensor<?x3xi1>
  return %0 : tensor<?x3xi1>
}

// -----

// CHECK-LABEL: func.func @logical_xor(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.xori
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @logical_xor(%arg0: tensor<?x3xi1>, %arg1: tensor<?x3xi1>) -> tensor<?x3xi1> {
  %0 = tcp.logical_xor %arg0, %arg1 : tensor<?x3xi1>, tensor<?x3xi1> -> tensor<?x3xi1>
  return %0 : tensor<?x3xi1>
}

// -----

// CHECK-LABEL: func.func @add(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.addf
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @add(%arg0: tensor<?x3xf32>, %arg1: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = tcp.add %arg0, %arg1 : tensor<?x3xf32>, tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @add_2(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.addi
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @add_2(%arg0: tensor<?x3xi32>, %arg1: tensor<?x3xi32>) -> tensor<?x3xi32> {
  %0 = tcp.add %arg0, %arg1 : tensor<?x3xi32>, tensor<?x3xi32> -> tensor<?x3xi32>
  return %0 : tensor<?x3xi32>
}

// -----

// CHECK-LABEL: func.func @maximum(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.maximumf
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @maximum(%arg0: tensor<?x3xf32>, %arg1: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = tcp.maximum %arg0, %arg1 : tensor<?x3xf32>, tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @maximum_2(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.maxsi
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @maximum_2(%arg0: tensor<?x3xi32>, %arg1: tensor<?x3xi32>) -> tensor<?x3xi32> {
  %0 = tcp.maximum %arg0, %arg1 : tensor<?x3xi32>, tensor<?x3xi32> -> tensor<?x3xi32>
  return %0 : tensor<?x3xi32>
}

// -----

// CHECK-LABEL: func.func @minimum(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.minimumf
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @minimum(%arg0: tensor<?x3xf32>, %arg1: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = tcp.minimum %arg0, %arg1 : tensor<?x3xf32>, tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @minimum_2(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.minsi
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @minimum_2(%arg0: tensor<?x3xi32>, %arg1: tensor<?x3xi32>) -> tensor<?x3xi32> {
  %0 = tcp.minimum %arg0, %arg1 : tensor<?x3xi32>, tensor<?x3xi32> -> tensor<?x3xi32>
  return %0 : tensor<?x3xi32>
}

// -----

// CHECK-LABEL: func.func @mul(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.mulf
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @mul(%arg0: tensor<?x3xf32>, %arg1: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = tcp.mul %arg0, %arg1 : tensor<?x3xf32>, tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @mul_2(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.muli
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @mul_2(%arg0: tensor<?x3xi32>, %arg1: tensor<?x3xi32>) -> tensor<?x3xi32> {
  %0 = tcp.mul %arg0, %arg1 : tensor<?x3xi32>, tensor<?x3xi32> -> tensor<?x3xi32>
  return %0 : tensor<?x3xi32>
}

// -----

// CHECK-LABEL: func.func @pow(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         math.powf
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @pow(%arg0: tensor<?x3xf32>, %arg1: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = tcp.pow %arg0, %arg1 : tensor<?x3xf32>, tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @pow_2(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         scf.while
// CHECK:         arith.cmpi sgt,
// CHECK:         scf.condition
// CHECK:         arith.trunci
// CHECK:         arith.muli
// CHECK:         arith.select
// CHECK:         arith.muli
// CHECK:         arith.shrsi
// CHECK:         arith.trunci
// CHECK:         arith.cmpi eq,
// CHECK:         arith.cmpi eq,
// CHECK:         arith.select
// CHECK:         arith.select
// CHECK:         arith.select
// CHECK:         arith.cmpi slt,
// CHECK:         arith.select
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @pow_2(%arg0: tensor<?x3xi32>, %arg1: tensor<?x3xi32>) -> tensor<?x3xi32> {
  %0 = tcp.pow %arg0, %arg1 : tensor<?x3xi32>, tensor<?x3xi32> -> tensor<?x3xi32>
  return %0 : tensor<?x3xi32>
}

// -----

// CHECK-LABEL: func.func @sub(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.subf
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @sub(%arg0: tensor<?x3xf32>, %arg1: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = tcp.sub %arg0, %arg1 : tensor<?x3xf32>, tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @sub_2(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.subi
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @sub_2(%arg0: tensor<?x3xi32>, %arg1: tensor<?x3xi32>) -> tensor<?x3xi32> {
  %0 = tcp.sub %arg0, %arg1 : tensor<?x3xi32>, tensor<?x3xi32> -> tensor<?x3xi32>
  return %0 : tensor<?x3xi32>
}

// -----

// CHECK-LABEL: func.func @maximum_3(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.maxui
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @maximum_3(%arg0: tensor<?x3xi32>, %arg1: tensor<?x3xi32>) -> tensor<?x3xi32> {
  %0 = tcp.maximum %arg0, %arg1 {int_signedness = #tcp<signedness Unsigned>} : tensor<?x3xi32>, tensor<?x3xi32> -> tensor<?x3xi32>
  return %0 : tensor<?x3xi32>
}

// -----

// CHECK-LABEL: func.func @minimum_3(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.minui
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @minimum_3(%arg0: tensor<?x3xi32>, %arg1: tensor<?x3xi32>) -> tensor<?x3xi32> {
  %0 = tcp.minimum %arg0, %arg1 {int_signedness = #tcp<signedness Unsigned>} : tensor<?x3xi32>, tensor<?x3xi32> -> tensor<?x3xi32>
  return %0 : tensor<?x3xi32>
}

// -----

// CHECK-LABEL: func.func @bitwise_not(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.xori
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @bitwise_not(%arg0: tensor<?x3xi32>) -> tensor<?x3xi32> {
  %0 = tcp.bitwise_not %arg0 : tensor<?x3xi32> -> tensor<?x3xi32>
  return %0 : tensor<?x3xi32>
}

// -----

// CHECK-LABEL: func.func @logical_not(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.xori
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @logical_not(%arg0: tensor<?x3xi1>) -> tensor<?x3xi1> {
  %0 = tcp.logical_not %arg0 : tensor<?x3xi1> -> tensor<?x3xi1>
  return %0 : tensor<?x3xi1>
}

// -----

// CHECK-LABEL: func.func @clamp(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.maximumf
// CHECK:         arith.minimumf
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @clamp(%arg0: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = tcp.clamp %arg0 {max_float = 2.0 : f64, min_float = 1.0 : f64} : tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @clamp_2(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.maxsi
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @clamp_2(%arg0: tensor<?x3xi32>) -> tensor<?x3xi32> {
  %0 = tcp.clamp %arg0 {min_int = 1 : i64} : tensor<?x3xi32> -> tensor<?x3xi32>
  return %0 : tensor<?x3xi32>
}

// -----

// CHECK-LABEL: func.func @clamp_3(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.minui
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @clamp_3(%arg0: tensor<?x3xi32>) -> tensor<?x3xi32> {
  %0 = tcp.clamp %arg0 {int_signedness = #tcp<signedness Unsigned>, max_int = 1 : i64} : tensor<?x3xi32> -> tensor<?x3xi32>
  return %0 : tensor<?x3xi32>
}

// -----

// CHECK-LABEL: func.func @compare(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.cmpf oeq,
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @compare(%arg0: tensor<?x3xf32>, %arg1: tensor<?x3xf32>) -> tensor<?x3xi1> {
  %0 = tcp.compare %arg0, %arg1 {predicate = #tcp<predicate eq>} : tensor<?x3xf32>, tensor<?x3xf32> -> tensor<?x3xi1>
  return %0 : tensor<?x3xi1>
}

// -----

// CHECK-LABEL: func.func @compare_2(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.cmpi eq,
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @compare_2(%arg0: tensor<?x3xi32>, %arg1: tensor<?x3xi32>) -> tensor<?x3xi1> {
  %0 = tcp.compare %arg0, %arg1 {predicate = #tcp<predicate eq>} : tensor<?x3xi32>, tensor<?x3xi32> -> tensor<?x3xi1>
  return %0 : tensor<?x3xi1>
}

// -----

// CHECK-LABEL: func.func @compare_3(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.cmpf une,
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @compare_3(%arg0: tensor<?x3xf32>, %arg1: tensor<?x3xf32>) -> tensor<?x3xi1> {
  %0 = tcp.compare %arg0, %arg1 {predicate = #tcp<predicate ne>} : tensor<?x3xf32>, tensor<?x3xf32> -> tensor<?x3xi1>
  return %0 : tensor<?x3xi1>
}

// -----

// CHECK-LABEL: func.func @compare_4(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.cmpi ne,
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @compare_4(%arg0: tensor<?x3xi32>, %arg1: tensor<?x3xi32>) -> tensor<?x3xi1> {
  %0 = tcp.compare %arg0, %arg1 {predicate = #tcp<predicate ne>} : tensor<?x3xi32>, tensor<?x3xi32> -> tensor<?x3xi1>
  return %0 : tensor<?x3xi1>
}

// -----

// CHECK-LABEL: func.func @compare_5(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.cmpf olt,
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @compare_5(%arg0: tensor<?x3xf32>, %arg1: tensor<?x3xf32>) -> tensor<?x3xi1> {
  %0 = tcp.compare %arg0, %arg1 {predicate = #tcp<predicate lt>} : tensor<?x3xf32>, tensor<?x3xf32> -> tensor<?x3xi1>
  return %0 : tensor<?x3xi1>
}

// -----

// CHECK-LABEL: func.func @compare_6(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.cmpi slt,
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @compare_6(%arg0: tensor<?x3xi32>, %arg1: tensor<?x3xi32>) -> tensor<?x3xi1> {
  %0 = tcp.compare %arg0, %arg1 {predicate = #tcp<predicate lt>} : tensor<?x3xi32>, tensor<?x3xi32> -> tensor<?x3xi1>
  return %0 : tensor<?x3xi1>
}

// -----

// CHECK-LABEL: func.func @compare_7(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.cmpf ole,
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @compare_7(%arg0: tensor<?x3xf32>, %arg1: tensor<?x3xf32>) -> tensor<?x3xi1> {
  %0 = tcp.compare %arg0, %arg1 {predicate = #tcp<predicate le>} : tensor<?x3xf32>, tensor<?x3xf32> -> tensor<?x3xi1>
  return %0 : tensor<?x3xi1>
}

// -----

// CHECK-LABEL: func.func @compare_8(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.cmpi sle,
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @compare_8(%arg0: tensor<?x3xi32>, %arg1: tensor<?x3xi32>) -> tensor<?x3xi1> {
  %0 = tcp.compare %arg0, %arg1 {predicate = #tcp<predicate le>} : tensor<?x3xi32>, tensor<?x3xi32> -> tensor<?x3xi1>
  return %0 : tensor<?x3xi1>
}

// -----

// CHECK-LABEL: func.func @compare_9(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.cmpf ogt,
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @compare_9(%arg0: tensor<?x3xf32>, %arg1: tensor<?x3xf32>) -> tensor<?x3xi1> {
  %0 = tcp.compare %arg0, %arg1 {predicate = #tcp<predicate gt>} : tensor<?x3xf32>, tensor<?x3xf32> -> tensor<?x3xi1>
  return %0 : tensor<?x3xi1>
}

// -----

// CHECK-LABEL: func.func @compare_10(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.cmpi sgt,
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @compare_10(%arg0: tensor<?x3xi32>, %arg1: tensor<?x3xi32>) -> tensor<?x3xi1> {
  %0 = tcp.compare %arg0, %arg1 {predicate = #tcp<predicate gt>} : tensor<?x3xi32>, tensor<?x3xi32> -> tensor<?x3xi1>
  return %0 : tensor<?x3xi1>
}

// -----

// CHECK-LABEL: func.func @compare_11(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.cmpf oge,
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @compare_11(%arg0: tensor<?x3xf32>, %arg1: tensor<?x3xf32>) -> tensor<?x3xi1> {
  %0 = tcp.compare %arg0, %arg1 {predicate = #tcp<predicate ge>} : tensor<?x3xf32>, tensor<?x3xf32> -> tensor<?x3xi1>
  return %0 : tensor<?x3xi1>
}

// -----

// CHECK-LABEL: func.func @compare_12(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.cmpi sge,
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @compare_12(%arg0: tensor<?x3xi32>, %arg1: tensor<?x3xi32>) -> tensor<?x3xi1> {
  %0 = tcp.compare %arg0, %arg1 {predicate = #tcp<predicate ge>} : tensor<?x3xi32>, tensor<?x3xi32> -> tensor<?x3xi1>
  return %0 : tensor<?x3xi1>
}

// -----

// CHECK-LABEL: func.func @compare_13(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.cmpi ult,
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @compare_13(%arg0: tensor<?x3xi32>, %arg1: tensor<?x3xi32>) -> tensor<?x3xi1> {
  %0 = tcp.compare %arg0, %arg1 {int_signedness = #tcp<signedness Unsigned>, predicate = #tcp<predicate lt>} : tensor<?x3xi32>, tensor<?x3xi32> -> tensor<?x3xi1>
  return %0 : tensor<?x3xi1>
}

// -----

// CHECK-LABEL: func.func @select(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.select
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @select(%arg0: tensor<?x3xf32>, %arg1: tensor<?x3xf32>, %arg2: tensor<?x3xi1>) -> tensor<?x3xf32> {
  %0 = tcp.select %arg2, %arg0, %arg1 : tensor<?x3xi1>, tensor<?x3xf32>, tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @cast(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.fptosi
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @cast(%arg0: tensor<?x3xf32>) -> tensor<?x3xi32> {
  %0 = tcp.cast %arg0 {out_int_signedness = #tcp<signedness Signed>} : tensor<?x3xf32> -> tensor<?x3xi32>
  return %0 : tensor<?x3xi32>
}

// -----

// CHECK-LABEL: func.func @cast_2(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.fptoui
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @cast_2(%arg0: tensor<?x3xf32>) -> tensor<?x3xi64> {
  %0 = tcp.cast %arg0 {out_int_signedness = #tcp<signedness Unsigned>} : tensor<?x3xf32> -> tensor<?x3xi64>
  return %0 : tensor<?x3xi64>
}

// -----

// CHECK-LABEL: func.func @cast_3(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.sitofp
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @cast_3(%arg0: tensor<?x3xi32>) -> tensor<?x3xf32> {
  %0 = tcp.cast %arg0 {in_int_signedness = #tcp<signedness Signed>} : tensor<?x3xi32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @cast_4(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.uitofp
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @cast_4(%arg0: tensor<?x3xi32>) -> tensor<?x3xf32> {
  %0 = tcp.cast %arg0 {in_int_signedness = #tcp<signedness Unsigned>} : tensor<?x3xi32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @cast_5(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.uitofp
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @cast_5(%arg0: tensor<?x3xi1>) -> tensor<?x3xf32> {
  %0 = tcp.cast %arg0 {in_int_signedness = #tcp<signedness Signless>} : tensor<?x3xi1> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @cast_6(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.cmpf une,
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @cast_6(%arg0: tensor<?x3xf32>) -> tensor<?x3xi1> {
  %0 = tcp.cast %arg0 {out_int_signedness = #tcp<signedness Signless>} : tensor<?x3xf32> -> tensor<?x3xi1>
  return %0 : tensor<?x3xi1>
}

// -----

// CHECK-LABEL: func.func @cast_7(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.extf
// CHECK:         arith.truncf
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @cast_7(%arg0: tensor<?x3xf16>) -> tensor<?x3xbf16> {
  %0 = tcp.cast %arg0 : tensor<?x3xf16> -> tensor<?x3xbf16>
  return %0 : tensor<?x3xbf16>
}

// -----

// CHECK-LABEL: func.func @cast_8(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.truncf
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @cast_8(%arg0: tensor<?x3xf64>) -> tensor<?x3xf32> {
  %0 = tcp.cast %arg0 : tensor<?x3xf64> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @cast_9(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.extsi
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @cast_9(%arg0: tensor<?x3xi8>) -> tensor<?x3xi32> {
  %0 = tcp.cast %arg0 {in_int_signedness = #tcp<signedness Signed>, out_int_signedness = #tcp<signedness Signed>} : tensor<?x3xi8> -> tensor<?x3xi32>
  return %0 : tensor<?x3xi32>
}

// -----

// CHECK-LABEL: func.func @cast_10(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.extui
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @cast_10(%arg0: tensor<?x3xi8>) -> tensor<?x3xi32> {
  %0 = tcp.cast %arg0 {in_int_signedness = #tcp<signedness Unsigned>, out_int_signedness = #tcp<signedness Signed>} : tensor<?x3xi8> -> tensor<?x3xi32>
  return %0 : tensor<?x3xi32>
}

// -----

// CHECK-LABEL: func.func @cast_11(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.trunci
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @cast_11(%arg0: tensor<?x3xi32>) -> tensor<?x3xi8> {
  %0 = tcp.cast %arg0 {in_int_signedness = #tcp<signedness Signed>, out_int_signedness = #tcp<signedness Signed>} : tensor<?x3xi32> -> tensor<?x3xi8>
  return %0 : tensor<?x3xi8>
}

// -----

// CHECK-LABEL: func.func @bitcast(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         arith.bitcast %{{.*}} : f32 to i32
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @bitcast(%arg0: tensor<?x3xf32>) -> tensor<?x3xi32> {
  %0 = tcp.bitcast %arg0 : tensor<?x3xf32> -> tensor<?x3xi32>
  return %0 : tensor<?x3xi32>
}
