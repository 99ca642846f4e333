// RUN: tcp-opt %s -linalg-to-kernels-pipeline | FileCheck %s

// What lies between layers is released as soon as the next layer has read it: there is memory for
// two at most at any time, however many layers there are.
// CHECK-LABEL: func.func @layers(
// CHECK:         %[[FIRST:.*]] = memref.alloc(
// CHECK-NEXT:    call @matmul_kernel({{.*}}%[[FIRST]])
// CHECK-NEXT:    %[[SECOND:.*]] = memref.alloc(
// CHECK-NEXT:    call @matmul_kernel({{.*}}%[[FIRST]], {{.*}}%[[SECOND]])
// CHECK-NEXT:    memref.dealloc %[[FIRST]]
// CHECK-NEXT:    %[[THIRD:.*]] = memref.alloc(
// CHECK-NEXT:    call @matmul_kernel({{.*}}%[[SECOND]], {{.*}}%[[THIRD]])
// CHECK-NEXT:    memref.dealloc %[[SECOND]]
// CHECK-NEXT:    return %[[THIRD]]
func.func @layers(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<?x8xf32>, tensor<8x8xf32>) outs(%f : tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<?x8xf32>, tensor<8x8xf32>) outs(%f : tensor<?x8xf32>) -> tensor<?x8xf32>
  %2 = linalg.matmul ins(%1, %w : tensor<?x8xf32>, tensor<8x8xf32>) outs(%f : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}
