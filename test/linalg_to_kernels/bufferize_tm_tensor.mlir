// RUN: tcp-opt %s -split-input-file -bufferize-tm-tensor | FileCheck %s
// RUN: tcp-opt %s -split-input-file -linalg-to-kernels-pipeline | FileCheck %s --check-prefix=KERNELS

// What is sorted is the tensor from before the write, so that is not done in place.

// CHECK-LABEL: func.func @written_between(
// CHECK:         %[[X:.*]] = bufferization.to_buffer %{{.*}} read_only
// CHECK-NEXT:    %[[OUT:.*]] = memref.alloc() : memref<10xf32>
// CHECK-NEXT:    %[[LAST:.*]] = memref.alloc() : memref<f32>
// CHECK-NEXT:    tm_tensor.scan {{.*}} ins(%[[X]] : memref<10xf32>) outs(%[[OUT]], %[[LAST]] : memref<10xf32>, memref<f32>)
// CHECK:         %[[SUMS:.*]] = bufferization.to_tensor %[[OUT]] restrict writable
// CHECK:         tensor.insert %{{.*}} into %[[SUMS]]
// CHECK-NEXT:    %[[SORTED:.*]] = memref.alloc()
// CHECK-NEXT:    %[[READ:.*]] = bufferization.to_buffer %[[SUMS]] read_only
// CHECK-NEXT:    memref.copy %[[READ]], %[[SORTED]]
// CHECK-NEXT:    tm_tensor.sort {{.*}} outs(%[[SORTED]] :

// KERNELS-LABEL: func.func @written_between(
// KERNELS:         %[[SUMS:.*]] = memref.view {{.*}} to memref<10xf32>
// KERNELS:         %[[WRITTEN:.*]] = memref.alloc()
// KERNELS-NEXT:    call @copy_kernel(%[[SUMS]], %[[WRITTEN]])
// KERNELS-NEXT:    memref.store %{{.*}}, %[[WRITTEN]][
// KERNELS-NEXT:    %[[SORTED:.*]] = memref.alloc()
// KERNELS:         call @sort_kernel(%[[SORTED]], %{{.*}}, %[[SUMS]])
// KERNELS:         return %[[WRITTEN]], %[[SORTED]]
func.func @written_between(%x: tensor<10xf32>) -> (tensor<10xf32>, tensor<10xf32>) {
  %one = arith.constant 1 : index
  %c = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<10xf32>
  %z = tensor.empty() : tensor<f32>
  %sums, %last = tm_tensor.scan dimension(0) inclusive(true) ins(%x : tensor<10xf32>) outs(%e, %z : tensor<10xf32>, tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    tm_tensor.yield %0 : f32
  } -> tensor<10xf32>, tensor<f32>
  %written = tensor.insert %c into %sums[%one] : tensor<10xf32>
  %sorted = tm_tensor.sort dimension(0) outs(%sums : tensor<10xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.cmpf olt, %a, %b : f32
    tm_tensor.yield %0 : i1
  } -> tensor<10xf32>
  return %written, %sorted : tensor<10xf32>, tensor<10xf32>
}

// -----

// Nothing reads the old tensor, so the write is in place.

// KERNELS-LABEL: func.func @written_after(
// KERNELS:         %[[SUMS:.*]] = memref.alloc() : memref<10xf32>
// KERNELS-NOT:     memref.alloc() : memref<10xf32>
// KERNELS:         memref.store %{{.*}}, %[[SUMS]][%c1]
// KERNELS-NOT:     memref.copy
// KERNELS:         return %[[SUMS]]
func.func @written_after(%x: tensor<10xf32>) -> tensor<10xf32> {
  %one = arith.constant 1 : index
  %c = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<10xf32>
  %z = tensor.empty() : tensor<f32>
  %sums, %last = tm_tensor.scan dimension(0) inclusive(true) ins(%x : tensor<10xf32>) outs(%e, %z : tensor<10xf32>, tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    tm_tensor.yield %0 : f32
  } -> tensor<10xf32>, tensor<f32>
  %written = tensor.insert %c into %sums[%one] : tensor<10xf32>
  return %written : tensor<10xf32>
}
