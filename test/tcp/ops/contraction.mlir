// RUN: tcp-opt %s | FileCheck %s
// RUN: tcp-opt %s -mlir-print-op-generic | tcp-opt | FileCheck %s

// CHECK-LABEL: func.func @matmul(
func.func @matmul(%arg0: tensor<2x3xf32>, %arg1: tensor<3x?xf32>) {
  // CHECK-NEXT: %0 = tcp.matmul %arg0, %arg1 : tensor<2x3xf32>, tensor<3x?xf32> -> tensor<2x?xf32>
  %0 = tcp.matmul %arg0, %arg1 : tensor<2x3xf32>, tensor<3x?xf32> -> tensor<2x?xf32>
  return
}

// CHECK-LABEL: func.func @batch_matmul(
func.func @batch_matmul(%arg0: tensor<?x2x3xbf16>, %arg1: tensor<7x3x4xbf16>) {
  // CHECK-NEXT: %0 = tcp.batch_matmul %arg0, %arg1 : tensor<?x2x3xbf16>, tensor<7x3x4xbf16> -> tensor<7x2x4xbf16>
  %0 = tcp.batch_matmul %arg0, %arg1 : tensor<?x2x3xbf16>, tensor<7x3x4xbf16> -> tensor<7x2x4xbf16>
  return
}
