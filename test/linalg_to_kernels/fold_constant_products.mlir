// RUN: tcp-opt %s -fold-constant-products -split-input-file | FileCheck %s
// RUN: tcp-opt %s -linalg-to-kernels-pipeline -split-input-file | FileCheck %s --check-prefix=KERNELS

#x = affine_map<(o, k, j, i) -> (o, j, i)>
#m = affine_map<(o, k, j, i) -> (k, j)>
#all = affine_map<(o, k, j, i) -> (o, k, j, i)>
#kept = affine_map<(o, k, j, i) -> (o, k, i)>
#id = affine_map<(o, k, i) -> (o, k, i)>

// A Hadamard transform, added up in f64: one computation in f32, and eight additions of elements.
// CHECK-LABEL: func.func @hadamard(
// CHECK-SAME:      %[[X:[^:]*]]: tensor<7x4x64xf32>
// CHECK:         %[[M:.*]] = arith.constant dense<{{.*}}> : tensor<4x4xf32>
// CHECK:         linalg.generic {{.*}}"parallel", "parallel", "reduction", "parallel"]} ins(%[[X]], %[[M]] : {{.*}}) outs(%{{.*}} : tensor<7x4x64xf32>)
// CHECK-NEXT:    ^bb0(%[[E:.*]]: f32, %[[N:.*]]: f32, %[[SUM:.*]]: f32):
// CHECK-NEXT:      %[[P:.*]] = arith.mulf %[[E]], %[[N]]
// CHECK-NEXT:      arith.addf %[[SUM]], %[[P]]
// CHECK-NOT:     f64
// KERNELS-LABEL: func.func private @product_sum(
// KERNELS:         scf.for %[[O:.*]] = %c0 to %c7
// KERNELS-NEXT:      scf.for %[[I:.*]] = %c0 to %c64
// KERNELS-COUNT-4:     memref.load
// KERNELS-NOT:         arith.mulf
// KERNELS-COUNT-4:     arith.{{addf|subf}}
// KERNELS-COUNT-4:     arith.{{addf|subf}}
// KERNELS-NOT:         arith.{{addf|subf|mulf}}
// KERNELS-COUNT-4:     memref.store
func.func @hadamard(%x: tensor<7x4x64xf32>) -> tensor<7x4x64xf32> {
  %m = arith.constant dense<[[1.0, 1.0, 1.0, 1.0], [1.0, -1.0, 1.0, -1.0], [1.0, 1.0, -1.0, -1.0], [1.0, -1.0, -1.0, 1.0]]> : tensor<4x4xf32>
  %zero = arith.constant 0.0 : f64
  %terms = tensor.empty() : tensor<7x4x4x64xf32>
  %p = linalg.generic {indexing_maps = [#x, #m, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x, %m : tensor<7x4x64xf32>, tensor<4x4xf32>) outs(%terms : tensor<7x4x4x64xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %c = arith.mulf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<7x4x4x64xf32>
  %wide = tensor.empty() : tensor<7x4x64xf64>
  %filled = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel", "parallel"]} outs(%wide : tensor<7x4x64xf64>) {
  ^bb0(%out: f64):
    linalg.yield %zero : f64
  } -> tensor<7x4x64xf64>
  %s = linalg.generic {indexing_maps = [#all, #kept], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%p : tensor<7x4x4x64xf32>) outs(%filled : tensor<7x4x64xf64>) {
  ^bb0(%a: f32, %out: f64):
    %b = arith.extf %a : f32 to f64
    %c = arith.addf %out, %b : f64
    linalg.yield %c : f64
  } -> tensor<7x4x64xf64>
  %narrow = tensor.empty() : tensor<7x4x64xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s : tensor<7x4x64xf64>) outs(%narrow : tensor<7x4x64xf32>) {
  ^bb0(%a: f64, %out: f32):
    %b = arith.truncf %a : f64 to f32
    linalg.yield %b : f32
  } -> tensor<7x4x64xf32>
  return %r : tensor<7x4x64xf32>
}

// -----

// Numbers that are elsewhere are not looked at.
// CHECK-LABEL: func.func @elsewhere(
// CHECK:         dense_resource
// KERNELS:       dense_resource
// KERNELS-LABEL: func.func @elsewhere(
// KERNELS:       func.func private @product_sum(
// KERNELS:         arith.mulf
#x = affine_map<(o, k, j) -> (o, j)>
#m = affine_map<(o, k, j) -> (k, j)>
#kept = affine_map<(o, k, j) -> (o, k)>
#id = affine_map<(o, k) -> (o, k)>
func.func @elsewhere(%x: tensor<7x4xf32>) -> tensor<7x2xf32> {
  %m = arith.constant dense_resource<blob> : tensor<2x4xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<7x2xf32>
  %filled = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<7x2xf32>) {
  ^bb0(%out: f32):
    linalg.yield %zero : f32
  } -> tensor<7x2xf32>
  %s = linalg.generic {indexing_maps = [#x, #m, #kept], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %m : tensor<7x4xf32>, tensor<2x4xf32>) outs(%filled : tensor<7x2xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %c = arith.mulf %a, %b : f32
    %d = arith.addf %out, %c : f32
    linalg.yield %d : f32
  } -> tensor<7x2xf32>
  return %s : tensor<7x2xf32>
}

{-# dialect_resources: { builtin: { blob: "0x040000000000803F0000803F0000803F0000803F0000803F0000803F0000803F00000040" } } #-}
