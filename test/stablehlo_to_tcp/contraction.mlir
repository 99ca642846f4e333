// RUN: tcp-opt %s -convert-stablehlo-to-tcp -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @matmul(
// CHECK:         tcp.matmul %arg0, %arg1 : tensor<4x3xf32>, tensor<3x5xf32> -> tensor<4x5xf32>
func.func @matmul(%a: tensor<4x3xf32>, %b: tensor<3x5xf32>) -> tensor<4x5xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x3xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// -----

// CHECK-LABEL: func.func @batch_matmul(
// CHECK:         tcp.batch_matmul %arg0, %arg1
func.func @batch_matmul(%a: tensor<2x4x3xf32>, %b: tensor<2x3x5xf32>) -> tensor<2x4x5xf32> {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x4x3xf32>, tensor<2x3x5xf32>) -> tensor<2x4x5xf32>
  return %0 : tensor<2x4x5xf32>
}

// -----

// Other layouts, and sums in another type than the elements', are left.

// CHECK-LABEL: func.func @stays(
// CHECK-COUNT-2: stablehlo.dot_general
func.func @stays(%a: tensor<3x4xf32>, %b: tensor<3x5xf32>, %c: tensor<4x3xbf16>, %d: tensor<3x5xbf16>) -> (tensor<4x5xf32>, tensor<4x5xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<3x4xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
  %1 = stablehlo.dot_general %c, %d, contracting_dims = [1] x [0] : (tensor<4x3xbf16>, tensor<3x5xbf16>) -> tensor<4x5xf32>
  return %0, %1 : tensor<4x5xf32>, tensor<4x5xf32>
}
