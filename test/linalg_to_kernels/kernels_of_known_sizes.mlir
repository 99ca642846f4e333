// RUN: tcp-opt %s '-form-fusion-groups=vector-bytes=32 vector-registers=16' '-build-kernels=vector-bytes=32 vector-registers=16' | FileCheck %s --check-prefix=SHARED
// RUN: tcp-opt %s '-form-fusion-groups=vector-bytes=4 vector-registers=32 scratch-bytes=2048' '-build-kernels=vector-bytes=4 vector-registers=32 scratch-bytes=2048' | FileCheck %s --check-prefix=KNOWN

// Products of several sizes share a kernel, but on a microcontroller, where what is not known is counted by 64 bits.

#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (k, j)>
#out = affine_map<(i, j, k) -> (i, j)>

// SHARED:     func.func private @[[KERNEL:matmul_kernel]](%{{[^:]*}}: memref<?x?xf32
// SHARED-NOT: func.func private

// KNOWN-DAG:  func.func private @matmul_kernel{{.*}}(%{{[^:]*}}: memref<48x48xf32
// KNOWN-DAG:  func.func private @matmul_kernel{{.*}}(%{{[^:]*}}: memref<96x96xf32
func.func @products(
    %a: tensor<48x48xf32>, %b: tensor<48x32xf32>, %c: tensor<96x96xf32>, %d: tensor<96x64xf32>
) -> (tensor<48x32xf32>, tensor<96x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<48x32xf32>
  %f = tensor.empty() : tensor<96x64xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<48x32xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  } -> tensor<48x32xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%f : tensor<96x64xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  } -> tensor<96x64xf32>
  %2 = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<48x48xf32>, tensor<48x32xf32>) outs(%0 : tensor<48x32xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<48x32xf32>
  %3 = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]} ins(%c, %d : tensor<96x96xf32>, tensor<96x64xf32>) outs(%1 : tensor<96x64xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<96x64xf32>
  return %2, %3 : tensor<48x32xf32>, tensor<96x64xf32>
}
