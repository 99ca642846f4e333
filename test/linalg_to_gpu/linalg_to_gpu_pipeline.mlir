// RUN: tcp-opt %s -linalg-to-gpu-pipeline | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// Both calls launch one kernel. What lies between them lies in device memory.
// CHECK-LABEL: func.func @twice(
// CHECK-SAME:      %[[X:.*]]: memref<1000xf32>) -> memref<1000xf32>
// CHECK:         %[[DX:.*]] = gpu.alloc () : memref<1000xf32>
// CHECK:         gpu.memcpy %[[DX]], %[[X]] : {{.*}} {plumbline.to_device}
// CHECK:         gpu.launch_func @kernels::@sqrt_kernel blocks in (%c1, %c1, %c1) threads in (%c256, %c1, %c1) args(%[[DX]] : memref<1000xf32>, %[[DY:.*]] : memref<1000xf32>)
// CHECK:         gpu.launch_func @kernels::@loops_kernel
// CHECK:         gpu.launch_func @kernels::@sqrt_kernel
// CHECK:       gpu.module @kernels
// CHECK-DAG:     gpu.func @sqrt_kernel(%{{.*}}: memref<1000xf32>, %{{.*}}: memref<1000xf32>) kernel
// CHECK-DAG:     gpu.func @loops_kernel(
// CHECK-NOT:     gpu.func @sqrt_kernel_0
func.func @twice(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %e = tensor.empty() : tensor<1000xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<1000xf32>) outs(%e : tensor<1000xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.sqrt %a : f32
    linalg.yield %r : f32
  } -> tensor<1000xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1000 = arith.constant 1000 : index
  %1 = scf.for %i = %c1 to %c1000 step %c1 iter_args(%t = %0) -> tensor<1000xf32> {
    %before = arith.subi %i, %c1 : index
    %a = tensor.extract %t[%before] : tensor<1000xf32>
    %b = tensor.extract %t[%i] : tensor<1000xf32>
    %s = arith.addf %a, %b : f32
    %u = tensor.insert %s into %t[%i] : tensor<1000xf32>
    scf.yield %u : tensor<1000xf32>
  }
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%1 : tensor<1000xf32>) outs(%e : tensor<1000xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.sqrt %a : f32
    linalg.yield %r : f32
  } -> tensor<1000xf32>
  return %2 : tensor<1000xf32>
}
