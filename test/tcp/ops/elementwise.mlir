// RUN: tcp-opt %s | FileCheck %s
// RUN: tcp-opt %s -mlir-print-op-generic | tcp-opt | FileCheck %s

// Functions of one float.

// CHECK-LABEL: func.func @tanh(
func.func @tanh(%arg0: tensor<f16>, %arg1: tensor<?x3xbf16>, %arg2: tensor<?xf32>, %arg3: tensor<2xf64>) {
  // CHECK-NEXT: %0 = tcp.tanh %arg0 : tensor<f16> -> tensor<f16>
  %0 = tcp.tanh %arg0 : tensor<f16> -> tensor<f16>
  // CHECK-NEXT: %1 = tcp.tanh %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  %1 = tcp.tanh %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  // CHECK-NEXT: %2 = tcp.tanh %arg2 : tensor<?xf32> -> tensor<?xf32>
  %2 = tcp.tanh %arg2 : tensor<?xf32> -> tensor<?xf32>
  // CHECK-NEXT: %3 = tcp.tanh %arg3 : tensor<2xf64> -> tensor<2xf64>
  %3 = tcp.tanh %arg3 : tensor<2xf64> -> tensor<2xf64>
  return
}

// CHECK-LABEL: func.func @sigmoid(
func.func @sigmoid(%arg0: tensor<f16>, %arg1: tensor<?x3xbf16>, %arg2: tensor<?xf32>, %arg3: tensor<2xf64>) {
  // CHECK-NEXT: %0 = tcp.sigmoid %arg0 : tensor<f16> -> tensor<f16>
  %0 = tcp.sigmoid %arg0 : tensor<f16> -> tensor<f16>
  // CHECK-NEXT: %1 = tcp.sigmoid %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  %1 = tcp.sigmoid %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  // CHECK-NEXT: %2 = tcp.sigmoid %arg2 : tensor<?xf32> -> tensor<?xf32>
  %2 = tcp.sigmoid %arg2 : tensor<?xf32> -> tensor<?xf32>
  // CHECK-NEXT: %3 = tcp.sigmoid %arg3 : tensor<2xf64> -> tensor<2xf64>
  %3 = tcp.sigmoid %arg3 : tensor<2xf64> -> tensor<2xf64>
  return
}

// CHECK-LABEL: func.func @sqrt(
func.func @sqrt(%arg0: tensor<f16>, %arg1: tensor<?x3xbf16>, %arg2: tensor<?xf32>, %arg3: tensor<2xf64>) {
  // CHECK-NEXT: %0 = tcp.sqrt %arg0 : tensor<f16> -> tensor<f16>
  %0 = tcp.sqrt %arg0 : tensor<f16> -> tensor<f16>
  // CHECK-NEXT: %1 = tcp.sqrt %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  %1 = tcp.sqrt %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  // CHECK-NEXT: %2 = tcp.sqrt %arg2 : tensor<?xf32> -> tensor<?xf32>
  %2 = tcp.sqrt %arg2 : tensor<?xf32> -> tensor<?xf32>
  // CHECK-NEXT: %3 = tcp.sqrt %arg3 : tensor<2xf64> -> tensor<2xf64>
  %3 = tcp.sqrt %arg3 : tensor<2xf64> -> tensor<2xf64>
  return
}

// CHECK-LABEL: func.func @rsqrt(
func.func @rsqrt(%arg0: tensor<f16>, %arg1: tensor<?x3xbf16>, %arg2: tensor<?xf32>, %arg3: tensor<2xf64>) {
  // CHECK-NEXT: %0 = tcp.rsqrt %arg0 : tensor<f16> -> tensor<f16>
  %0 = tcp.rsqrt %arg0 : tensor<f16> -> tensor<f16>
  // CHECK-NEXT: %1 = tcp.rsqrt %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  %1 = tcp.rsqrt %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  // CHECK-NEXT: %2 = tcp.rsqrt %arg2 : tensor<?xf32> -> tensor<?xf32>
  %2 = tcp.rsqrt %arg2 : tensor<?xf32> -> tensor<?xf32>
  // CHECK-NEXT: %3 = tcp.rsqrt %arg3 : tensor<2xf64> -> tensor<2xf64>
  %3 = tcp.rsqrt %arg3 : tensor<2xf64> -> tensor<2xf64>
  return
}

// CHECK-LABEL: func.func @ceil(
func.func @ceil(%arg0: tensor<f16>, %arg1: tensor<?x3xbf16>, %arg2: tensor<?xf32>, %arg3: tensor<2xf64>) {
  // CHECK-NEXT: %0 = tcp.ceil %arg0 : tensor<f16> -> tensor<f16>
  %0 = tcp.ceil %arg0 : tensor<f16> -> tensor<f16>
  // CHECK-NEXT: %1 = tcp.ceil %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  %1 = tcp.ceil %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  // CHECK-NEXT: %2 = tcp.ceil %arg2 : tensor<?xf32> -> tensor<?xf32>
  %2 = tcp.ceil %arg2 : tensor<?xf32> -> tensor<?xf32>
  // CHECK-NEXT: %3 = tcp.ceil %arg3 : tensor<2xf64> -> tensor<2xf64>
  %3 = tcp.ceil %arg3 : tensor<2xf64> -> tensor<2xf64>
  return
}

// CHECK-LABEL: func.func @floor(
func.func @floor(%arg0: tensor<f16>, %arg1: tensor<?x3xbf16>, %arg2: tensor<?xf32>, %arg3: tensor<2xf64>) {
  // CHECK-NEXT: %0 = tcp.floor %arg0 : tensor<f16> -> tensor<f16>
  %0 = tcp.floor %arg0 : tensor<f16> -> tensor<f16>
  // CHECK-NEXT: %1 = tcp.floor %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  %1 = tcp.floor %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  // CHECK-NEXT: %2 = tcp.floor %arg2 : tensor<?xf32> -> tensor<?xf32>
  %2 = tcp.floor %arg2 : tensor<?xf32> -> tensor<?xf32>
  // CHECK-NEXT: %3 = tcp.floor %arg3 : tensor<2xf64> -> tensor<2xf64>
  %3 = tcp.floor %arg3 : tensor<2xf64> -> tensor<2xf64>
  return
}

// CHECK-LABEL: func.func @round(
func.func @round(%arg0: tensor<f16>, %arg1: tensor<?x3xbf16>, %arg2: tensor<?xf32>, %arg3: tensor<2xf64>) {
  // CHECK-NEXT: %0 = tcp.round %arg0 : tensor<f16> -> tensor<f16>
  %0 = tcp.round %arg0 : tensor<f16> -> tensor<f16>
  // CHECK-NEXT: %1 = tcp.round %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  %1 = tcp.round %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  // CHECK-NEXT: %2 = tcp.round %arg2 : tensor<?xf32> -> tensor<?xf32>
  %2 = tcp.round %arg2 : tensor<?xf32> -> tensor<?xf32>
  // CHECK-NEXT: %3 = tcp.round %arg3 : tensor<2xf64> -> tensor<2xf64>
  %3 = tcp.round %arg3 : tensor<2xf64> -> tensor<2xf64>
  return
}

// CHECK-LABEL: func.func @round_even(
func.func @round_even(%arg0: tensor<f16>, %arg1: tensor<?x3xbf16>, %arg2: tensor<?xf32>, %arg3: tensor<2xf64>) {
  // CHECK-NEXT: %0 = tcp.round_even %arg0 : tensor<f16> -> tensor<f16>
  %0 = tcp.round_even %arg0 : tensor<f16> -> tensor<f16>
  // CHECK-NEXT: %1 = tcp.round_even %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  %1 = tcp.round_even %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  // CHECK-NEXT: %2 = tcp.round_even %arg2 : tensor<?xf32> -> tensor<?xf32>
  %2 = tcp.round_even %arg2 : tensor<?xf32> -> tensor<?xf32>
  // CHECK-NEXT: %3 = tcp.round_even %arg3 : tensor<2xf64> -> tensor<2xf64>
  %3 = tcp.round_even %arg3 : tensor<2xf64> -> tensor<2xf64>
  return
}

// CHECK-LABEL: func.func @exp(
func.func @exp(%arg0: tensor<f16>, %arg1: tensor<?x3xbf16>, %arg2: tensor<?xf32>, %arg3: tensor<2xf64>) {
  // CHECK-NEXT: %0 = tcp.exp %arg0 : tensor<f16> -> tensor<f16>
  %0 = tcp.exp %arg0 : tensor<f16> -> tensor<f16>
  // CHECK-NEXT: %1 = tcp.exp %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  %1 = tcp.exp %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  // CHECK-NEXT: %2 = tcp.exp %arg2 : tensor<?xf32> -> tensor<?xf32>
  %2 = tcp.exp %arg2 : tensor<?xf32> -> tensor<?xf32>
  // CHECK-NEXT: %3 = tcp.exp %arg3 : tensor<2xf64> -> tensor<2xf64>
  %3 = tcp.exp %arg3 : tensor<2xf64> -> tensor<2xf64>
  return
}

// CHECK-LABEL: func.func @expm1(
func.func @expm1(%arg0: tensor<f16>, %arg1: tensor<?x3xbf16>, %arg2: tensor<?xf32>, %arg3: tensor<2xf64>) {
  // CHECK-NEXT: %0 = tcp.expm1 %arg0 : tensor<f16> -> tensor<f16>
  %0 = tcp.expm1 %arg0 : tensor<f16> -> tensor<f16>
  // CHECK-NEXT: %1 = tcp.expm1 %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  %1 = tcp.expm1 %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  // CHECK-NEXT: %2 = tcp.expm1 %arg2 : tensor<?xf32> -> tensor<?xf32>
  %2 = tcp.expm1 %arg2 : tensor<?xf32> -> tensor<?xf32>
  // CHECK-NEXT: %3 = tcp.expm1 %arg3 : tensor<2xf64> -> tensor<2xf64>
  %3 = tcp.expm1 %arg3 : tensor<2xf64> -> tensor<2xf64>
  return
}

// CHECK-LABEL: func.func @log(
func.func @log(%arg0: tensor<f16>, %arg1: tensor<?x3xbf16>, %arg2: tensor<?xf32>, %arg3: tensor<2xf64>) {
  // CHECK-NEXT: %0 = tcp.log %arg0 : tensor<f16> -> tensor<f16>
  %0 = tcp.log %arg0 : tensor<f16> -> tensor<f16>
  // CHECK-NEXT: %1 = tcp.log %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  %1 = tcp.log %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  // CHECK-NEXT: %2 = tcp.log %arg2 : tensor<?xf32> -> tensor<?xf32>
  %2 = tcp.log %arg2 : tensor<?xf32> -> tensor<?xf32>
  // CHECK-NEXT: %3 = tcp.log %arg3 : tensor<2xf64> -> tensor<2xf64>
  %3 = tcp.log %arg3 : tensor<2xf64> -> tensor<2xf64>
  return
}

// CHECK-LABEL: func.func @log1p(
func.func @log1p(%arg0: tensor<f16>, %arg1: tensor<?x3xbf16>, %arg2: tensor<?xf32>, %arg3: tensor<2xf64>) {
  // CHECK-NEXT: %0 = tcp.log1p %arg0 : tensor<f16> -> tensor<f16>
  %0 = tcp.log1p %arg0 : tensor<f16> -> tensor<f16>
  // CHECK-NEXT: %1 = tcp.log1p %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  %1 = tcp.log1p %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  // CHECK-NEXT: %2 = tcp.log1p %arg2 : tensor<?xf32> -> tensor<?xf32>
  %2 = tcp.log1p %arg2 : tensor<?xf32> -> tensor<?xf32>
  // CHECK-NEXT: %3 = tcp.log1p %arg3 : tensor<2xf64> -> tensor<2xf64>
  %3 = tcp.log1p %arg3 : tensor<2xf64> -> tensor<2xf64>
  return
}

// CHECK-LABEL: func.func @erf(
func.func @erf(%arg0: tensor<f16>, %arg1: tensor<?x3xbf16>, %arg2: tensor<?xf32>, %arg3: tensor<2xf64>) {
  // CHECK-NEXT: %0 = tcp.erf %arg0 : tensor<f16> -> tensor<f16>
  %0 = tcp.erf %arg0 : tensor<f16> -> tensor<f16>
  // CHECK-NEXT: %1 = tcp.erf %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  %1 = tcp.erf %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  // CHECK-NEXT: %2 = tcp.erf %arg2 : tensor<?xf32> -> tensor<?xf32>
  %2 = tcp.erf %arg2 : tensor<?xf32> -> tensor<?xf32>
  // CHECK-NEXT: %3 = tcp.erf %arg3 : tensor<2xf64> -> tensor<2xf64>
  %3 = tcp.erf %arg3 : tensor<2xf64> -> tensor<2xf64>
  return
}

// CHECK-LABEL: func.func @erfc(
func.func @erfc(%arg0: tensor<f16>, %arg1: tensor<?x3xbf16>, %arg2: tensor<?xf32>, %arg3: tensor<2xf64>) {
  // CHECK-NEXT: %0 = tcp.erfc %arg0 : tensor<f16> -> tensor<f16>
  %0 = tcp.erfc %arg0 : tensor<f16> -> tensor<f16>
  // CHECK-NEXT: %1 = tcp.erfc %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  %1 = tcp.erfc %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  // CHECK-NEXT: %2 = tcp.erfc %arg2 : tensor<?xf32> -> tensor<?xf32>
  %2 = tcp.erfc %arg2 : tensor<?xf32> -> tensor<?xf32>
  // CHECK-NEXT: %3 = tcp.erfc %arg3 : tensor<2xf64> -> tensor<2xf64>
  %3 = tcp.erfc %arg3 : tensor<2xf64> -> tensor<2xf64>
  return
}

// CHECK-LABEL: func.func @sin(
func.func @sin(%arg0: tensor<f16>, %arg1: tensor<?x3xbf16>, %arg2: tensor<?xf32>, %arg3: tensor<2xf64>) {
  // CHECK-NEXT: %0 = tcp.sin %arg0 : tensor<f16> -> tensor<f16>
  %0 = tcp.sin %arg0 : tensor<f16> -> tensor<f16>
  // CHECK-NEXT: %1 = tcp.sin %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  %1 = tcp.sin %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  // CHECK-NEXT: %2 = tcp.sin %arg2 : tensor<?xf32> -> tensor<?xf32>
  %2 = tcp.sin %arg2 : tensor<?xf32> -> tensor<?xf32>
  // CHECK-NEXT: %3 = tcp.sin %arg3 : tensor<2xf64> -> tensor<2xf64>
  %3 = tcp.sin %arg3 : tensor<2xf64> -> tensor<2xf64>
  return
}

// CHECK-LABEL: func.func @cos(
func.func @cos(%arg0: tensor<f16>, %arg1: tensor<?x3xbf16>, %arg2: tensor<?xf32>, %arg3: tensor<2xf64>) {
  // CHECK-NEXT: %0 = tcp.cos %arg0 : tensor<f16> -> tensor<f16>
  %0 = tcp.cos %arg0 : tensor<f16> -> tensor<f16>
  // CHECK-NEXT: %1 = tcp.cos %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  %1 = tcp.cos %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  // CHECK-NEXT: %2 = tcp.cos %arg2 : tensor<?xf32> -> tensor<?xf32>
  %2 = tcp.cos %arg2 : tensor<?xf32> -> tensor<?xf32>
  // CHECK-NEXT: %3 = tcp.cos %arg3 : tensor<2xf64> -> tensor<2xf64>
  %3 = tcp.cos %arg3 : tensor<2xf64> -> tensor<2xf64>
  return
}

// CHECK-LABEL: func.func @tan(
func.func @tan(%arg0: tensor<f16>, %arg1: tensor<?x3xbf16>, %arg2: tensor<?xf32>, %arg3: tensor<2xf64>) {
  // CHECK-NEXT: %0 = tcp.tan %arg0 : tensor<f16> -> tensor<f16>
  %0 = tcp.tan %arg0 : tensor<f16> -> tensor<f16>
  // CHECK-NEXT: %1 = tcp.tan %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  %1 = tcp.tan %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  // CHECK-NEXT: %2 = tcp.tan %arg2 : tensor<?xf32> -> tensor<?xf32>
  %2 = tcp.tan %arg2 : tensor<?xf32> -> tensor<?xf32>
  // CHECK-NEXT: %3 = tcp.tan %arg3 : tensor<2xf64> -> tensor<2xf64>
  %3 = tcp.tan %arg3 : tensor<2xf64> -> tensor<2xf64>
  return
}

// CHECK-LABEL: func.func @asin(
func.func @asin(%arg0: tensor<f16>, %arg1: tensor<?x3xbf16>, %arg2: tensor<?xf32>, %arg3: tensor<2xf64>) {
  // CHECK-NEXT: %0 = tcp.asin %arg0 : tensor<f16> -> tensor<f16>
  %0 = tcp.asin %arg0 : tensor<f16> -> tensor<f16>
  // CHECK-NEXT: %1 = tcp.asin %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  %1 = tcp.asin %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  // CHECK-NEXT: %2 = tcp.asin %arg2 : tensor<?xf32> -> tensor<?xf32>
  %2 = tcp.asin %arg2 : tensor<?xf32> -> tensor<?xf32>
  // CHECK-NEXT: %3 = tcp.asin %arg3 : tensor<2xf64> -> tensor<2xf64>
  %3 = tcp.asin %arg3 : tensor<2xf64> -> tensor<2xf64>
  return
}

// CHECK-LABEL: func.func @acos(
func.func @acos(%arg0: tensor<f16>, %arg1: tensor<?x3xbf16>, %arg2: tensor<?xf32>, %arg3: tensor<2xf64>) {
  // CHECK-NEXT: %0 = tcp.acos %arg0 : tensor<f16> -> tensor<f16>
  %0 = tcp.acos %arg0 : tensor<f16> -> tensor<f16>
  // CHECK-NEXT: %1 = tcp.acos %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  %1 = tcp.acos %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  // CHECK-NEXT: %2 = tcp.acos %arg2 : tensor<?xf32> -> tensor<?xf32>
  %2 = tcp.acos %arg2 : tensor<?xf32> -> tensor<?xf32>
  // CHECK-NEXT: %3 = tcp.acos %arg3 : tensor<2xf64> -> tensor<2xf64>
  %3 = tcp.acos %arg3 : tensor<2xf64> -> tensor<2xf64>
  return
}

// CHECK-LABEL: func.func @atan(
func.func @atan(%arg0: tensor<f16>, %arg1: tensor<?x3xbf16>, %arg2: tensor<?xf32>, %arg3: tensor<2xf64>) {
  // CHECK-NEXT: %0 = tcp.atan %arg0 : tensor<f16> -> tensor<f16>
  %0 = tcp.atan %arg0 : tensor<f16> -> tensor<f16>
  // CHECK-NEXT: %1 = tcp.atan %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  %1 = tcp.atan %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  // CHECK-NEXT: %2 = tcp.atan %arg2 : tensor<?xf32> -> tensor<?xf32>
  %2 = tcp.atan %arg2 : tensor<?xf32> -> tensor<?xf32>
  // CHECK-NEXT: %3 = tcp.atan %arg3 : tensor<2xf64> -> tensor<2xf64>
  %3 = tcp.atan %arg3 : tensor<2xf64> -> tensor<2xf64>
  return
}

// CHECK-LABEL: func.func @sinh(
func.func @sinh(%arg0: tensor<f16>, %arg1: tensor<?x3xbf16>, %arg2: tensor<?xf32>, %arg3: tensor<2xf64>) {
  // CHECK-NEXT: %0 = tcp.sinh %arg0 : tensor<f16> -> tensor<f16>
  %0 = tcp.sinh %arg0 : tensor<f16> -> tensor<f16>
  // CHECK-NEXT: %1 = tcp.sinh %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  %1 = tcp.sinh %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  // CHECK-NEXT: %2 = tcp.sinh %arg2 : tensor<?xf32> -> tensor<?xf32>
  %2 = tcp.sinh %arg2 : tensor<?xf32> -> tensor<?xf32>
  // CHECK-NEXT: %3 = tcp.sinh %arg3 : tensor<2xf64> -> tensor<2xf64>
  %3 = tcp.sinh %arg3 : tensor<2xf64> -> tensor<2xf64>
  return
}

// CHECK-LABEL: func.func @polynomial(
func.func @polynomial(%arg0: tensor<f16>, %arg1: tensor<?x3xbf16>, %arg2: tensor<?xf32>, %arg3: tensor<2xf64>) {
  // CHECK-NEXT: %0 = tcp.polynomial %arg0 {coefficients = [1.000000e+00]} : tensor<f16> -> tensor<f16>
  %0 = tcp.polynomial %arg0 {coefficients = [1.000000e+00]} : tensor<f16> -> tensor<f16>
  // CHECK-NEXT: %1 = tcp.polynomial %arg1 {coefficients = [1.000000e+00, -5.000000e-01]} : tensor<?x3xbf16> -> tensor<?x3xbf16>
  %1 = tcp.polynomial %arg1 {coefficients = [1.000000e+00, -5.000000e-01]} : tensor<?x3xbf16> -> tensor<?x3xbf16>
  // CHECK-NEXT: %2 = tcp.polynomial %arg2 {coefficients = [1.000000e-01, 2.000000e+00]} : tensor<?xf32> -> tensor<?xf32>
  %2 = tcp.polynomial %arg2 {coefficients = [0.1, 2.0]} : tensor<?xf32> -> tensor<?xf32>
  // CHECK-NEXT: %3 = tcp.polynomial %arg3 {coefficients = [0x7FF0000000000000 : f64, 2.500000e-01]} : tensor<2xf64> -> tensor<2xf64>
  %3 = tcp.polynomial %arg3 {coefficients = [0x7FF0000000000000 : f64, 2.500000e-01]} : tensor<2xf64> -> tensor<2xf64>
  return
}

// CHECK-LABEL: func.func @asinh(
func.func @asinh(%arg0: tensor<f16>, %arg1: tensor<?x3xbf16>, %arg2: tensor<?xf32>, %arg3: tensor<2xf64>) {
  // CHECK-NEXT: %0 = tcp.asinh %arg0 : tensor<f16> -> tensor<f16>
  %0 = tcp.asinh %arg0 : tensor<f16> -> tensor<f16>
  // CHECK-NEXT: %1 = tcp.asinh %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  %1 = tcp.asinh %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  // CHECK-NEXT: %2 = tcp.asinh %arg2 : tensor<?xf32> -> tensor<?xf32>
  %2 = tcp.asinh %arg2 : tensor<?xf32> -> tensor<?xf32>
  // CHECK-NEXT: %3 = tcp.asinh %arg3 : tensor<2xf64> -> tensor<2xf64>
  %3 = tcp.asinh %arg3 : tensor<2xf64> -> tensor<2xf64>
  return
}

// CHECK-LABEL: func.func @cosh(
func.func @cosh(%arg0: tensor<f16>, %arg1: tensor<?x3xbf16>, %arg2: tensor<?xf32>, %arg3: tensor<2xf64>) {
  // CHECK-NEXT: %0 = tcp.cosh %arg0 : tensor<f16> -> tensor<f16>
  %0 = tcp.cosh %arg0 : tensor<f16> -> tensor<f16>
  // CHECK-NEXT: %1 = tcp.cosh %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  %1 = tcp.cosh %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  // CHECK-NEXT: %2 = tcp.cosh %arg2 : tensor<?xf32> -> tensor<?xf32>
  %2 = tcp.cosh %arg2 : tensor<?xf32> -> tensor<?xf32>
  // CHECK-NEXT: %3 = tcp.cosh %arg3 : tensor<2xf64> -> tensor<2xf64>
  %3 = tcp.cosh %arg3 : tensor<2xf64> -> tensor<2xf64>
  return
}

// Functions of one number.

// CHECK-LABEL: func.func @abs(
func.func @abs(%arg0: tensor<f16>, %arg1: tensor<?x3xbf16>, %arg2: tensor<?xf32>, %arg3: tensor<2xf64>, %arg4: tensor<?xi8>) {
  // CHECK-NEXT: %0 = tcp.abs %arg0 : tensor<f16> -> tensor<f16>
  %0 = tcp.abs %arg0 : tensor<f16> -> tensor<f16>
  // CHECK-NEXT: %1 = tcp.abs %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  %1 = tcp.abs %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  // CHECK-NEXT: %2 = tcp.abs %arg2 : tensor<?xf32> -> tensor<?xf32>
  %2 = tcp.abs %arg2 : tensor<?xf32> -> tensor<?xf32>
  // CHECK-NEXT: %3 = tcp.abs %arg3 : tensor<2xf64> -> tensor<2xf64>
  %3 = tcp.abs %arg3 : tensor<2xf64> -> tensor<2xf64>
  // CHECK-NEXT: %4 = tcp.abs %arg4 : tensor<?xi8> -> tensor<2xi8>
  %4 = tcp.abs %arg4 : tensor<?xi8> -> tensor<2xi8>
  return
}

// CHECK-LABEL: func.func @neg(
func.func @neg(%arg0: tensor<f16>, %arg1: tensor<?x3xbf16>, %arg2: tensor<?xf32>, %arg3: tensor<2xf64>, %arg4: tensor<?xi8>) {
  // CHECK-NEXT: %0 = tcp.neg %arg0 : tensor<f16> -> tensor<f16>
  %0 = tcp.neg %arg0 : tensor<f16> -> tensor<f16>
  // CHECK-NEXT: %1 = tcp.neg %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  %1 = tcp.neg %arg1 : tensor<?x3xbf16> -> tensor<?x3xbf16>
  // CHECK-NEXT: %2 = tcp.neg %arg2 : tensor<?xf32> -> tensor<?xf32>
  %2 = tcp.neg %arg2 : tensor<?xf32> -> tensor<?xf32>
  // CHECK-NEXT: %3 = tcp.neg %arg3 : tensor<2xf64> -> tensor<2xf64>
  %3 = tcp.neg %arg3 : tensor<2xf64> -> tensor<2xf64>
  // CHECK-NEXT: %4 = tcp.neg %arg4 : tensor<?xi8> -> tensor<2xi8>
  %4 = tcp.neg %arg4 : tensor<?xi8> -> tensor<2xi8>
  return
}

// CHECK-LABEL: func.func @clamp(
func.func @clamp(%arg0: tensor<?xf32>, %arg1: tensor<?xi8>) {
  // CHECK-NEXT: %0 = tcp.clamp %arg0 {max_float = 1.000000e+00 : f32} : tensor<?xf32> -> tensor<?xf32>
  %0 = tcp.clamp %arg0 {max_float = 1.000000e+00 : f32} : tensor<?xf32> -> tensor<?xf32>
  // CHECK-NEXT: %1 = tcp.clamp %arg0 {min_float = -5.000000e-01 : f64} : tensor<?xf32> -> tensor<?xf32>
  %1 = tcp.clamp %arg0 {min_float = -5.000000e-01 : f64} : tensor<?xf32> -> tensor<?xf32>
  // CHECK-NEXT: %2 = tcp.clamp %arg1 {int_signedness = #tcp<signedness Unsigned>, max_int = 255 : i64, min_int = -1 : i64} : tensor<?xi8> -> tensor<?xi8>
  %2 = tcp.clamp %arg1 {int_signedness = #tcp<signedness Unsigned>, max_int = 255 : i64, min_int = -1 : i64} : tensor<?xi8> -> tensor<?xi8>
  return
}

// Negations of truth values and of bits.

// CHECK-LABEL: func.func @logical_not(
func.func @logical_not(%arg0: tensor<?xi1>) {
  // CHECK-NEXT: %0 = tcp.logical_not %arg0 : tensor<?xi1> -> tensor<?xi1>
  %0 = tcp.logical_not %arg0 : tensor<?xi1> -> tensor<?xi1>
  return
}

// CHECK-LABEL: func.func @bitwise_not(
func.func @bitwise_not(%arg0: tensor<?xi64>) {
  // CHECK-NEXT: %0 = tcp.bitwise_not %arg0 : tensor<?xi64> -> tensor<?xi64>
  %0 = tcp.bitwise_not %arg0 : tensor<?xi64> -> tensor<?xi64>
  return
}

// Questions about one float.

// CHECK-LABEL: func.func @isnan(
func.func @isnan(%arg0: tensor<?xf16>) {
  // CHECK-NEXT: %0 = tcp.isnan %arg0 : tensor<?xf16> -> tensor<?xi1>
  %0 = tcp.isnan %arg0 : tensor<?xf16> -> tensor<?xi1>
  return
}

// CHECK-LABEL: func.func @isinf(
func.func @isinf(%arg0: tensor<?xf16>) {
  // CHECK-NEXT: %0 = tcp.isinf %arg0 : tensor<?xf16> -> tensor<?xi1>
  %0 = tcp.isinf %arg0 : tensor<?xf16> -> tensor<?xi1>
  return
}

// CHECK-LABEL: func.func @isfinite(
func.func @isfinite(%arg0: tensor<?xf16>) {
  // CHECK-NEXT: %0 = tcp.isfinite %arg0 : tensor<?xf16> -> tensor<?xi1>
  %0 = tcp.isfinite %arg0 : tensor<?xf16> -> tensor<?xi1>
  return
}

// CHECK-LABEL: func.func @signbit(
func.func @signbit(%arg0: tensor<?xf16>) {
  // CHECK-NEXT: %0 = tcp.signbit %arg0 : tensor<?xf16> -> tensor<?xi1>
  %0 = tcp.signbit %arg0 : tensor<?xf16> -> tensor<?xi1>
  return
}

// Functions of two floats.

// CHECK-LABEL: func.func @divf(
func.func @divf(%arg0: tensor<f16>, %arg1: tensor<f16>, %arg2: tensor<?x3xf64>, %arg3: tensor<?x3xf64>) {
  // CHECK-NEXT: %0 = tcp.divf %arg0, %arg1 : tensor<f16>, tensor<f16> -> tensor<f16>
  %0 = tcp.divf %arg0, %arg1 : tensor<f16>, tensor<f16> -> tensor<f16>
  // CHECK-NEXT: %1 = tcp.divf %arg2, %arg3 {note = "a \22quoted\22 {word}"} : tensor<?x3xf64>, tensor<?x3xf64> -> tensor<?x3xf64>
  %1 = tcp.divf %arg2, %arg3 {note = "a \22quoted\22 {word}"} : tensor<?x3xf64>, tensor<?x3xf64> -> tensor<?x3xf64>
  return
}

// CHECK-LABEL: func.func @remf(
func.func @remf(%arg0: tensor<f16>, %arg1: tensor<f16>, %arg2: tensor<?x3xf64>, %arg3: tensor<?x3xf64>) {
  // CHECK-NEXT: %0 = tcp.remf %arg0, %arg1 : tensor<f16>, tensor<f16> -> tensor<f16>
  %0 = tcp.remf %arg0, %arg1 : tensor<f16>, tensor<f16> -> tensor<f16>
  // CHECK-NEXT: %1 = tcp.remf %arg2, %arg3 {note = "a \22quoted\22 {word}"} : tensor<?x3xf64>, tensor<?x3xf64> -> tensor<?x3xf64>
  %1 = tcp.remf %arg2, %arg3 {note = "a \22quoted\22 {word}"} : tensor<?x3xf64>, tensor<?x3xf64> -> tensor<?x3xf64>
  return
}

// CHECK-LABEL: func.func @atan2(
func.func @atan2(%arg0: tensor<f16>, %arg1: tensor<f16>, %arg2: tensor<?x3xf64>, %arg3: tensor<?x3xf64>) {
  // CHECK-NEXT: %0 = tcp.atan2 %arg0, %arg1 : tensor<f16>, tensor<f16> -> tensor<f16>
  %0 = tcp.atan2 %arg0, %arg1 : tensor<f16>, tensor<f16> -> tensor<f16>
  // CHECK-NEXT: %1 = tcp.atan2 %arg2, %arg3 {note = "a \22quoted\22 {word}"} : tensor<?x3xf64>, tensor<?x3xf64> -> tensor<?x3xf64>
  %1 = tcp.atan2 %arg2, %arg3 {note = "a \22quoted\22 {word}"} : tensor<?x3xf64>, tensor<?x3xf64> -> tensor<?x3xf64>
  return
}

// CHECK-LABEL: func.func @copysign(
func.func @copysign(%arg0: tensor<f16>, %arg1: tensor<f16>, %arg2: tensor<?x3xf64>, %arg3: tensor<?x3xf64>) {
  // CHECK-NEXT: %0 = tcp.copysign %arg0, %arg1 : tensor<f16>, tensor<f16> -> tensor<f16>
  %0 = tcp.copysign %arg0, %arg1 : tensor<f16>, tensor<f16> -> tensor<f16>
  // CHECK-NEXT: %1 = tcp.copysign %arg2, %arg3 {note = "a \22quoted\22 {word}"} : tensor<?x3xf64>, tensor<?x3xf64> -> tensor<?x3xf64>
  %1 = tcp.copysign %arg2, %arg3 {note = "a \22quoted\22 {word}"} : tensor<?x3xf64>, tensor<?x3xf64> -> tensor<?x3xf64>
  return
}

// Quotients of integers, rounded in a stated way.

// CHECK-LABEL: func.func @divsi(
func.func @divsi(%arg0: tensor<?xi8>, %arg1: tensor<?xi8>) {
  // CHECK-NEXT: %0 = tcp.divsi %arg0, %arg1 {rounding_mode = #tcp<rounding_mode Trunc>} : tensor<?xi8>, tensor<?xi8> -> tensor<?xi8>
  %0 = tcp.divsi %arg0, %arg1 {rounding_mode = #tcp<rounding_mode Trunc>} : tensor<?xi8>, tensor<?xi8> -> tensor<?xi8>
  // CHECK-NEXT: %1 = tcp.divsi %arg0, %arg1 {rounding_mode = #tcp<rounding_mode Floor>} : tensor<?xi8>, tensor<?xi8> -> tensor<?xi8>
  %1 = tcp.divsi %arg0, %arg1 {rounding_mode = #tcp<rounding_mode Floor>} : tensor<?xi8>, tensor<?xi8> -> tensor<?xi8>
  // CHECK-NEXT: %2 = tcp.divsi %arg0, %arg1 {rounding_mode = #tcp<rounding_mode Ceil>} : tensor<?xi8>, tensor<?xi8> -> tensor<?xi8>
  %2 = tcp.divsi %arg0, %arg1 {rounding_mode = #tcp<rounding_mode Ceil>} : tensor<?xi8>, tensor<?xi8> -> tensor<?xi8>
  return
}

// CHECK-LABEL: func.func @divui(
func.func @divui(%arg0: tensor<?xi8>, %arg1: tensor<?xi8>) {
  // CHECK-NEXT: %0 = tcp.divui %arg0, %arg1 {rounding_mode = #tcp<rounding_mode Trunc>} : tensor<?xi8>, tensor<?xi8> -> tensor<?xi8>
  %0 = tcp.divui %arg0, %arg1 {rounding_mode = #tcp<rounding_mode Trunc>} : tensor<?xi8>, tensor<?xi8> -> tensor<?xi8>
  // CHECK-NEXT: %1 = tcp.divui %arg0, %arg1 {rounding_mode = #tcp<rounding_mode Floor>} : tensor<?xi8>, tensor<?xi8> -> tensor<?xi8>
  %1 = tcp.divui %arg0, %arg1 {rounding_mode = #tcp<rounding_mode Floor>} : tensor<?xi8>, tensor<?xi8> -> tensor<?xi8>
  // CHECK-NEXT: %2 = tcp.divui %arg0, %arg1 {rounding_mode = #tcp<rounding_mode Ceil>} : tensor<?xi8>, tensor<?xi8> -> tensor<?xi8>
  %2 = tcp.divui %arg0, %arg1 {rounding_mode = #tcp<rounding_mode Ceil>} : tensor<?xi8>, tensor<?xi8> -> tensor<?xi8>
  return
}

// Functions of two integers.

// CHECK-LABEL: func.func @remsi(
func.func @remsi(%arg0: tensor<?xi8>, %arg1: tensor<?xi8>) {
  // CHECK-NEXT: %0 = tcp.remsi %arg0, %arg1 : tensor<?xi8>, tensor<?xi8> -> tensor<?xi8>
  %0 = tcp.remsi %arg0, %arg1 : tensor<?xi8>, tensor<?xi8> -> tensor<?xi8>
  return
}

// CHECK-LABEL: func.func @remui(
func.func @remui(%arg0: tensor<?xi8>, %arg1: tensor<?xi8>) {
  // CHECK-NEXT: %0 = tcp.remui %arg0, %arg1 : tensor<?xi8>, tensor<?xi8> -> tensor<?xi8>
  %0 = tcp.remui %arg0, %arg1 : tensor<?xi8>, tensor<?xi8> -> tensor<?xi8>
  return
}

// CHECK-LABEL: func.func @bitwise_and(
func.func @bitwise_and(%arg0: tensor<?xi8>, %arg1: tensor<?xi8>) {
  // CHECK-NEXT: %0 = tcp.bitwise_and %arg0, %arg1 : tensor<?xi8>, tensor<?xi8> -> tensor<?xi8>
  %0 = tcp.bitwise_and %arg0, %arg1 : tensor<?xi8>, tensor<?xi8> -> tensor<?xi8>
  return
}

// CHECK-LABEL: func.func @bitwise_or(
func.func @bitwise_or(%arg0: tensor<?xi8>, %arg1: tensor<?xi8>) {
  // CHECK-NEXT: %0 = tcp.bitwise_or %arg0, %arg1 : tensor<?xi8>, tensor<?xi8> -> tensor<?xi8>
  %0 = tcp.bitwise_or %arg0, %arg1 : tensor<?xi8>, tensor<?xi8> -> tensor<?xi8>
  return
}

// CHECK-LABEL: func.func @bitwise_xor(
func.func @bitwise_xor(%arg0: tensor<?xi8>, %arg1: tensor<?xi8>) {
  // CHECK-NEXT: %0 = tcp.bitwise_xor %arg0, %arg1 : tensor<?xi8>, tensor<?xi8> -> tensor<?xi8>
  %0 = tcp.bitwise_xor %arg0, %arg1 : tensor<?xi8>, tensor<?xi8> -> tensor<?xi8>
  return
}

// CHECK-LABEL: func.func @shli(
func.func @shli(%arg0: tensor<?xi8>, %arg1: tensor<?xi8>) {
  // CHECK-NEXT: %0 = tcp.shli %arg0, %arg1 : tensor<?xi8>, tensor<?xi8> -> tensor<?xi8>
  %0 = tcp.shli %arg0, %arg1 : tensor<?xi8>, tensor<?xi8> -> tensor<?xi8>
  return
}

// CHECK-LABEL: func.func @shrsi(
func.func @shrsi(%arg0: tensor<?xi8>, %arg1: tensor<?xi8>) {
  // CHECK-NEXT: %0 = tcp.shrsi %arg0, %arg1 : tensor<?xi8>, tensor<?xi8> -> tensor<?xi8>
  %0 = tcp.shrsi %arg0, %arg1 : tensor<?xi8>, tensor<?xi8> -> tensor<?xi8>
  return
}

// CHECK-LABEL: func.func @shrui(
func.func @shrui(%arg0: tensor<?xi8>, %arg1: tensor<?xi8>) {
  // CHECK-NEXT: %0 = tcp.shrui %arg0, %arg1 : tensor<?xi8>, tensor<?xi8> -> tensor<?xi8>
  %0 = tcp.shrui %arg0, %arg1 : tensor<?xi8>, tensor<?xi8> -> tensor<?xi8>
  return
}

// Functions of two truth values.

// CHECK-LABEL: func.func @logical_and(
func.func @logical_and(%arg0: tensor<?xi1>, %arg1: tensor<?xi1>) {
  // CHECK-NEXT: %0 = tcp.logical_and %arg0, %arg1 : tensor<?xi1>, tensor<?xi1> -> tensor<?xi1>
  %0 = tcp.logical_and %arg0, %arg1 : tensor<?xi1>, tensor<?xi1> -> tensor<?xi1>
  return
}

// CHECK-LABEL: func.func @logical_or(
func.func @logical_or(%arg0: tensor<?xi1>, %arg1: tensor<?xi1>) {
  // CHECK-NEXT: %0 = tcp.logical_or %arg0, %arg1 : tensor<?xi1>, tensor<?xi1> -> tensor<?xi1>
  %0 = tcp.logical_or %arg0, %arg1 : tensor<?xi1>, tensor<?xi1> -> tensor<?xi1>
  return
}

// CHECK-LABEL: func.func @logical_xor(
func.func @logical_xor(%arg0: tensor<?xi1>, %arg1: tensor<?xi1>) {
  // CHECK-NEXT: %0 = tcp.logical_xor %arg0, %arg1 : tensor<?xi1>, tensor<?xi1> -> tensor<?xi1>
  %0 = tcp.logical_xor %arg0, %arg1 : tensor<?xi1>, tensor<?xi1> -> tensor<?xi1>
  return
}

// Functions of two numbers.

// CHECK-LABEL: func.func @add(
func.func @add(%arg0: tensor<f16>, %arg1: tensor<f16>, %arg2: tensor<?x3xf64>, %arg3: tensor<?x3xf64>, %arg4: tensor<2xi8>, %arg5: tensor<?xi8>) {
  // CHECK-NEXT: %0 = tcp.add %arg0, %arg1 : tensor<f16>, tensor<f16> -> tensor<f16>
  %0 = tcp.add %arg0, %arg1 : tensor<f16>, tensor<f16> -> tensor<f16>
  // CHECK-NEXT: %1 = tcp.add %arg2, %arg3 {note = "a \22quoted\22 {word}"} : tensor<?x3xf64>, tensor<?x3xf64> -> tensor<?x3xf64>
  %1 = tcp.add %arg2, %arg3 {note = "a \22quoted\22 {word}"} : tensor<?x3xf64>, tensor<?x3xf64> -> tensor<?x3xf64>
  // CHECK-NEXT: %2 = tcp.add %arg4, %arg5 : tensor<2xi8>, tensor<?xi8> -> tensor<2xi8>
  %2 = tcp.add %arg4, %arg5 : tensor<2xi8>, tensor<?xi8> -> tensor<2xi8>
  return
}

// CHECK-LABEL: func.func @sub(
func.func @sub(%arg0: tensor<f16>, %arg1: tensor<f16>, %arg2: tensor<?x3xf64>, %arg3: tensor<?x3xf64>, %arg4: tensor<2xi8>, %arg5: tensor<?xi8>) {
  // CHECK-NEXT: %0 = tcp.sub %arg0, %arg1 : tensor<f16>, tensor<f16> -> tensor<f16>
  %0 = tcp.sub %arg0, %arg1 : tensor<f16>, tensor<f16> -> tensor<f16>
  // CHECK-NEXT: %1 = tcp.sub %arg2, %arg3 {note = "a \22quoted\22 {word}"} : tensor<?x3xf64>, tensor<?x3xf64> -> tensor<?x3xf64>
  %1 = tcp.sub %arg2, %arg3 {note = "a \22quoted\22 {word}"} : tensor<?x3xf64>, tensor<?x3xf64> -> tensor<?x3xf64>
  // CHECK-NEXT: %2 = tcp.sub %arg4, %arg5 : tensor<2xi8>, tensor<?xi8> -> tensor<2xi8>
  %2 = tcp.sub %arg4, %arg5 : tensor<2xi8>, tensor<?xi8> -> tensor<2xi8>
  return
}

// CHECK-LABEL: func.func @mul(
func.func @mul(%arg0: tensor<f16>, %arg1: tensor<f16>, %arg2: tensor<?x3xf64>, %arg3: tensor<?x3xf64>, %arg4: tensor<2xi8>, %arg5: tensor<?xi8>) {
  // CHECK-NEXT: %0 = tcp.mul %arg0, %arg1 : tensor<f16>, tensor<f16> -> tensor<f16>
  %0 = tcp.mul %arg0, %arg1 : tensor<f16>, tensor<f16> -> tensor<f16>
  // CHECK-NEXT: %1 = tcp.mul %arg2, %arg3 {note = "a \22quoted\22 {word}"} : tensor<?x3xf64>, tensor<?x3xf64> -> tensor<?x3xf64>
  %1 = tcp.mul %arg2, %arg3 {note = "a \22quoted\22 {word}"} : tensor<?x3xf64>, tensor<?x3xf64> -> tensor<?x3xf64>
  // CHECK-NEXT: %2 = tcp.mul %arg4, %arg5 : tensor<2xi8>, tensor<?xi8> -> tensor<2xi8>
  %2 = tcp.mul %arg4, %arg5 : tensor<2xi8>, tensor<?xi8> -> tensor<2xi8>
  return
}

// CHECK-LABEL: func.func @pow(
func.func @pow(%arg0: tensor<f16>, %arg1: tensor<f16>, %arg2: tensor<?x3xf64>, %arg3: tensor<?x3xf64>, %arg4: tensor<2xi8>, %arg5: tensor<?xi8>) {
  // CHECK-NEXT: %0 = tcp.pow %arg0, %arg1 : tensor<f16>, tensor<f16> -> tensor<f16>
  %0 = tcp.pow %arg0, %arg1 : tensor<f16>, tensor<f16> -> tensor<f16>
  // CHECK-NEXT: %1 = tcp.pow %arg2, %arg3 {note = "a \22quoted\22 {word}"} : tensor<?x3xf64>, tensor<?x3xf64> -> tensor<?x3xf64>
  %1 = tcp.pow %arg2, %arg3 {note = "a \22quoted\22 {word}"} : tensor<?x3xf64>, tensor<?x3xf64> -> tensor<?x3xf64>
  // CHECK-NEXT: %2 = tcp.pow %arg4, %arg5 : tensor<2xi8>, tensor<?xi8> -> tensor<2xi8>
  %2 = tcp.pow %arg4, %arg5 : tensor<2xi8>, tensor<?xi8> -> tensor<2xi8>
  return
}

// Functions of two numbers that depend on what sign integers are taken to have.

// CHECK-LABEL: func.func @maximum(
func.func @maximum(%arg0: tensor<f16>, %arg1: tensor<f16>, %arg2: tensor<?x3xf64>, %arg3: tensor<?x3xf64>, %arg4: tensor<2xi8>, %arg5: tensor<?xi8>, %arg6: tensor<2xi8>, %arg7: tensor<2xi8>, %arg8: tensor<2xi1>, %arg9: tensor<2xi1>) {
  // CHECK-NEXT: %0 = tcp.maximum %arg0, %arg1 : tensor<f16>, tensor<f16> -> tensor<f16>
  %0 = tcp.maximum %arg0, %arg1 : tensor<f16>, tensor<f16> -> tensor<f16>
  // CHECK-NEXT: %1 = tcp.maximum %arg2, %arg3 {note = "a \22quoted\22 {word}"} : tensor<?x3xf64>, tensor<?x3xf64> -> tensor<?x3xf64>
  %1 = tcp.maximum %arg2, %arg3 {note = "a \22quoted\22 {word}"} : tensor<?x3xf64>, tensor<?x3xf64> -> tensor<?x3xf64>
  // CHECK-NEXT: %2 = tcp.maximum %arg4, %arg5 : tensor<2xi8>, tensor<?xi8> -> tensor<2xi8>
  %2 = tcp.maximum %arg4, %arg5 : tensor<2xi8>, tensor<?xi8> -> tensor<2xi8>
  // CHECK-NEXT: %3 = tcp.maximum %arg6, %arg7 {int_signedness = #tcp<signedness Unsigned>} : tensor<2xi8>, tensor<2xi8> -> tensor<2xi8>
  %3 = tcp.maximum %arg6, %arg7 {int_signedness = #tcp<signedness Unsigned>} : tensor<2xi8>, tensor<2xi8> -> tensor<2xi8>
  // CHECK-NEXT: %4 = tcp.maximum %arg8, %arg9 {int_signedness = #tcp<signedness Signless>} : tensor<2xi1>, tensor<2xi1> -> tensor<2xi1>
  %4 = tcp.maximum %arg8, %arg9 {int_signedness = #tcp<signedness Signless>} : tensor<2xi1>, tensor<2xi1> -> tensor<2xi1>
  return
}

// CHECK-LABEL: func.func @minimum(
func.func @minimum(%arg0: tensor<f16>, %arg1: tensor<f16>, %arg2: tensor<?x3xf64>, %arg3: tensor<?x3xf64>, %arg4: tensor<2xi8>, %arg5: tensor<?xi8>, %arg6: tensor<2xi8>, %arg7: tensor<2xi8>, %arg8: tensor<2xi1>, %arg9: tensor<2xi1>) {
  // CHECK-NEXT: %0 = tcp.minimum %arg0, %arg1 : tensor<f16>, tensor<f16> -> tensor<f16>
  %0 = tcp.minimum %arg0, %arg1 : tensor<f16>, tensor<f16> -> tensor<f16>
  // CHECK-NEXT: %1 = tcp.minimum %arg2, %arg3 {note = "a \22quoted\22 {word}"} : tensor<?x3xf64>, tensor<?x3xf64> -> tensor<?x3xf64>
  %1 = tcp.minimum %arg2, %arg3 {note = "a \22quoted\22 {word}"} : tensor<?x3xf64>, tensor<?x3xf64> -> tensor<?x3xf64>
  // CHECK-NEXT: %2 = tcp.minimum %arg4, %arg5 : tensor<2xi8>, tensor<?xi8> -> tensor<2xi8>
  %2 = tcp.minimum %arg4, %arg5 : tensor<2xi8>, tensor<?xi8> -> tensor<2xi8>
  // CHECK-NEXT: %3 = tcp.minimum %arg6, %arg7 {int_signedness = #tcp<signedness Unsigned>} : tensor<2xi8>, tensor<2xi8> -> tensor<2xi8>
  %3 = tcp.minimum %arg6, %arg7 {int_signedness = #tcp<signedness Unsigned>} : tensor<2xi8>, tensor<2xi8> -> tensor<2xi8>
  // CHECK-NEXT: %4 = tcp.minimum %arg8, %arg9 {int_signedness = #tcp<signedness Signless>} : tensor<2xi1>, tensor<2xi1> -> tensor<2xi1>
  %4 = tcp.minimum %arg8, %arg9 {int_signedness = #tcp<signedness Signless>} : tensor<2xi1>, tensor<2xi1> -> tensor<2xi1>
  return
}

// Comparison, choice and casts.

// CHECK-LABEL: func.func @compare(
func.func @compare(%arg0: tensor<?xf32>, %arg1: tensor<?xf32>, %arg2: tensor<?xi8>, %arg3: tensor<?xi8>) {
  // CHECK-NEXT: %0 = tcp.compare %arg0, %arg1 {predicate = #tcp<predicate eq>} : tensor<?xf32>, tensor<?xf32> -> tensor<?xi1>
  %0 = tcp.compare %arg0, %arg1 {predicate = #tcp<predicate eq>} : tensor<?xf32>, tensor<?xf32> -> tensor<?xi1>
  // CHECK-NEXT: %1 = tcp.compare %arg2, %arg3 {int_signedness = #tcp<signedness Unsigned>, predicate = #tcp<predicate eq>} : tensor<?xi8>, tensor<?xi8> -> tensor<?xi1>
  %1 = tcp.compare %arg2, %arg3 {int_signedness = #tcp<signedness Unsigned>, predicate = #tcp<predicate eq>} : tensor<?xi8>, tensor<?xi8> -> tensor<?xi1>
  // CHECK-NEXT: %2 = tcp.compare %arg0, %arg1 {predicate = #tcp<predicate ne>} : tensor<?xf32>, tensor<?xf32> -> tensor<?xi1>
  %2 = tcp.compare %arg0, %arg1 {predicate = #tcp<predicate ne>} : tensor<?xf32>, tensor<?xf32> -> tensor<?xi1>
  // CHECK-NEXT: %3 = tcp.compare %arg2, %arg3 {int_signedness = #tcp<signedness Unsigned>, predicate = #tcp<predicate ne>} : tensor<?xi8>, tensor<?xi8> -> tensor<?xi1>
  %3 = tcp.compare %arg2, %arg3 {int_signedness = #tcp<signedness Unsigned>, predicate = #tcp<predicate ne>} : tensor<?xi8>, tensor<?xi8> -> tensor<?xi1>
  // CHECK-NEXT: %4 = tcp.compare %arg0, %arg1 {predicate = #tcp<predicate lt>} : tensor<?xf32>, tensor<?xf32> -> tensor<?xi1>
  %4 = tcp.compare %arg0, %arg1 {predicate = #tcp<predicate lt>} : tensor<?xf32>, tensor<?xf32> -> tensor<?xi1>
  // CHECK-NEXT: %5 = tcp.compare %arg2, %arg3 {int_signedness = #tcp<signedness Unsigned>, predicate = #tcp<predicate lt>} : tensor<?xi8>, tensor<?xi8> -> tensor<?xi1>
  %5 = tcp.compare %arg2, %arg3 {int_signedness = #tcp<signedness Unsigned>, predicate = #tcp<predicate lt>} : tensor<?xi8>, tensor<?xi8> -> tensor<?xi1>
  // CHECK-NEXT: %6 = tcp.compare %arg0, %arg1 {predicate = #tcp<predicate le>} : tensor<?xf32>, tensor<?xf32> -> tensor<?xi1>
  %6 = tcp.compare %arg0, %arg1 {predicate = #tcp<predicate le>} : tensor<?xf32>, tensor<?xf32> -> tensor<?xi1>
  // CHECK-NEXT: %7 = tcp.compare %arg2, %arg3 {int_signedness = #tcp<signedness Unsigned>, predicate = #tcp<predicate le>} : tensor<?xi8>, tensor<?xi8> -> tensor<?xi1>
  %7 = tcp.compare %arg2, %arg3 {int_signedness = #tcp<signedness Unsigned>, predicate = #tcp<predicate le>} : tensor<?xi8>, tensor<?xi8> -> tensor<?xi1>
  // CHECK-NEXT: %8 = tcp.compare %arg0, %arg1 {predicate = #tcp<predicate gt>} : tensor<?xf32>, tensor<?xf32> -> tensor<?xi1>
  %8 = tcp.compare %arg0, %arg1 {predicate = #tcp<predicate gt>} : tensor<?xf32>, tensor<?xf32> -> tensor<?xi1>
  // CHECK-NEXT: %9 = tcp.compare %arg2, %arg3 {int_signedness = #tcp<signedness Unsigned>, predicate = #tcp<predicate gt>} : tensor<?xi8>, tensor<?xi8> -> tensor<?xi1>
  %9 = tcp.compare %arg2, %arg3 {int_signedness = #tcp<signedness Unsigned>, predicate = #tcp<predicate gt>} : tensor<?xi8>, tensor<?xi8> -> tensor<?xi1>
  // CHECK-NEXT: %10 = tcp.compare %arg0, %arg1 {predicate = #tcp<predicate ge>} : tensor<?xf32>, tensor<?xf32> -> tensor<?xi1>
  %10 = tcp.compare %arg0, %arg1 {predicate = #tcp<predicate ge>} : tensor<?xf32>, tensor<?xf32> -> tensor<?xi1>
  // CHECK-NEXT: %11 = tcp.compare %arg2, %arg3 {int_signedness = #tcp<signedness Unsigned>, predicate = #tcp<predicate ge>} : tensor<?xi8>, tensor<?xi8> -> tensor<?xi1>
  %11 = tcp.compare %arg2, %arg3 {int_signedness = #tcp<signedness Unsigned>, predicate = #tcp<predicate ge>} : tensor<?xi8>, tensor<?xi8> -> tensor<?xi1>
  return
}

// CHECK-LABEL: func.func @fmuladd(
func.func @fmuladd(%arg0: tensor<?x2xf32>, %arg1: tensor<bf16>) {
  // CHECK-NEXT: %0 = tcp.fmuladd %arg0, %arg0, %arg0 : tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32> -> tensor<?x2xf32>
  %0 = tcp.fmuladd %arg0, %arg0, %arg0 : tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32> -> tensor<?x2xf32>
  // CHECK-NEXT: %1 = tcp.fmuladd %arg1, %arg1, %arg1 : tensor<bf16>, tensor<bf16>, tensor<bf16> -> tensor<bf16>
  %1 = tcp.fmuladd %arg1, %arg1, %arg1 : tensor<bf16>, tensor<bf16>, tensor<bf16> -> tensor<bf16>
  return
}

// CHECK-LABEL: func.func @select(
func.func @select(%arg0: tensor<?xi1>, %arg1: tensor<?xf32>, %arg2: tensor<?xf32>, %arg3: tensor<?xi1>, %arg4: tensor<?xcomplex<f32>>, %arg5: tensor<?xcomplex<f32>>) {
  // CHECK-NEXT: %0 = tcp.select %arg0, %arg1, %arg2 : tensor<?xi1>, tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  %0 = tcp.select %arg0, %arg1, %arg2 : tensor<?xi1>, tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  // CHECK-NEXT: %1 = tcp.select %arg3, %arg4, %arg5 : tensor<?xi1>, tensor<?xcomplex<f32>>, tensor<?xcomplex<f32>> -> tensor<?xcomplex<f32>>
  %1 = tcp.select %arg3, %arg4, %arg5 : tensor<?xi1>, tensor<?xcomplex<f32>>, tensor<?xcomplex<f32>> -> tensor<?xcomplex<f32>>
  return
}

// CHECK-LABEL: func.func @cast(
func.func @cast(%arg0: tensor<?xf16>, %arg1: tensor<?xi1>, %arg2: tensor<?xf32>, %arg3: tensor<?xi8>) {
  // CHECK-NEXT: %0 = tcp.cast %arg0 : tensor<?xf16> -> tensor<?xbf16>
  %0 = tcp.cast %arg0 : tensor<?xf16> -> tensor<?xbf16>
  // CHECK-NEXT: %1 = tcp.cast %arg1 {in_int_signedness = #tcp<signedness Signless>} : tensor<?xi1> -> tensor<?xf32>
  %1 = tcp.cast %arg1 {in_int_signedness = #tcp<signedness Signless>} : tensor<?xi1> -> tensor<?xf32>
  // CHECK-NEXT: %2 = tcp.cast %arg2 {out_int_signedness = #tcp<signedness Signed>} : tensor<?xf32> -> tensor<?xi64>
  %2 = tcp.cast %arg2 {out_int_signedness = #tcp<signedness Signed>} : tensor<?xf32> -> tensor<?xi64>
  // CHECK-NEXT: %{{.*}} = tcp.cast %arg2 {out_int_signedness = #tcp<signedness Signless>} : tensor<?xf32> -> tensor<?xi64>
  %signless = tcp.cast %arg2 {out_int_signedness = #tcp<signedness Signless>} : tensor<?xf32> -> tensor<?xi64>
  // CHECK-NEXT: %{{.*}} = tcp.cast %arg3 {in_int_signedness = #tcp<signedness Unsigned>, out_int_signedness = #tcp<signedness Signed>} : tensor<?xi8> -> tensor<?xi8>
  %3 = tcp.cast %arg3 {in_int_signedness = #tcp<signedness Unsigned>, out_int_signedness = #tcp<signedness Signed>} : tensor<?xi8> -> tensor<?xi8>
  return
}

// CHECK-LABEL: func.func @bitcast(
func.func @bitcast(%arg0: tensor<?x3xf32>) {
  // CHECK-NEXT: %0 = tcp.bitcast %arg0 : tensor<?x3xf32> -> tensor<?x3xi32>
  %0 = tcp.bitcast %arg0 : tensor<?x3xf32> -> tensor<?x3xi32>
  return
}

// CHECK-LABEL: func.func @quantized(
func.func @quantized(%arg0: tensor<?x!quant.uniform<i8:f32, 5.000000e-01>>) {
  // CHECK-NEXT: %0 = tcp.add %arg0, %arg0 : tensor<?x!quant.uniform<i8:f32, 5.000000e-01>>, tensor<?x!quant.uniform<i8:f32, 5.000000e-01>> -> tensor<?x!quant.uniform<i8:f32, 5.000000e-01>>
  %0 = tcp.add %arg0, %arg0 : tensor<?x!quant.uniform<i8:f32, 5.000000e-01>>, tensor<?x!quant.uniform<i8:f32, 5.000000e-01>> -> tensor<?x!quant.uniform<i8:f32, 5.000000e-01>>
  // CHECK-NEXT: %1 = tcp.sub %0, %arg0 : tensor<?x!quant.uniform<i8:f32, 5.000000e-01>>, tensor<?x!quant.uniform<i8:f32, 5.000000e-01>> -> tensor<?x!quant.uniform<i8:f32, 5.000000e-01>>
  %1 = tcp.sub %0, %arg0 : tensor<?x!quant.uniform<i8:f32, 5.000000e-01>>, tensor<?x!quant.uniform<i8:f32, 5.000000e-01>> -> tensor<?x!quant.uniform<i8:f32, 5.000000e-01>>
  return
}
