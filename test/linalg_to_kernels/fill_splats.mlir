// RUN: tcp-opt %s -fill-splats | FileCheck %s

// CHECK-LABEL: func.func @large(
// CHECK:         %[[EMPTY:.*]] = tensor.empty() : tensor<100x1000xf32>
// CHECK:         %[[FILLED:.*]] = linalg.generic {{.*}} outs(%[[EMPTY]] :
// CHECK:           %[[NUMBER:.*]] = arith.constant 3.000000e+00 : f32
// CHECK:           linalg.yield %[[NUMBER]]
// CHECK:         return %[[FILLED]]
func.func @large() -> tensor<100x1000xf32> {
  %0 = arith.constant dense<3.0> : tensor<100x1000xf32>
  return %0 : tensor<100x1000xf32>
}

// CHECK-LABEL: func.func @truth(
// CHECK:         arith.constant true
// CHECK:         linalg.yield
func.func @truth() -> tensor<10000000000xi1> {
  %0 = arith.constant dense<true> : tensor<10000000000xi1>
  return %0 : tensor<10000000000xi1>
}

// CHECK-LABEL: func.func @constants(
// CHECK-COUNT-4: arith.constant dense
// CHECK-NOT:     linalg.generic
func.func @constants() -> (tensor<64xf32>, tensor<0x100xf32>, tensor<f32>, tensor<100xcomplex<f32>>) {
  %small = arith.constant dense<3.0> : tensor<64xf32>
  %empty = arith.constant dense<3.0> : tensor<0x100xf32>
  %scalar = arith.constant dense<3.0> : tensor<f32>
  %complex = arith.constant dense<(1.0, 2.0)> : tensor<100xcomplex<f32>>
  return %small, %empty, %scalar, %complex : tensor<64xf32>, tensor<0x100xf32>, tensor<f32>, tensor<100xcomplex<f32>>
}
