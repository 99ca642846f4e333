// RUN: tcp-opt %s -linalg-to-kernels-pipeline | FileCheck %s
// RUN: tcp-opt %s -linalg-to-kernels-pipeline | tcp-opt -kernels-to-llvm-pipeline | FileCheck %s --check-prefix=LLVM

// What is known of the arguments stays in the text, for the stage that follows.

// CHECK-LABEL: func.func @chain(
// CHECK-SAME:      %[[W:.*]]: memref<8xf32> {plumbline.weight = "w"}, %[[X:.*]]: memref<?x8xf32> {plumbline.shape = affine_map<()[s0] -> (s0, 8)>}) -> memref<?x8xf32>
// CHECK-SAME:      plumbline.symbols
// CHECK:         %[[Y:.*]] = memref.alloc(%{{.*}}) {alignment = 64 : i64} : memref<?x8xf32>
// CHECK-NEXT:    call @mul_neg(%[[X]], %[[W]], %{{.*}}, %[[Y]])
// CHECK-NEXT:    return %[[Y]]
// CHECK:       func.func private @mul_neg(
// CHECK-SAME:      %[[X:[^:]*]]: memref<?x8xf32> {llvm.noalias}, %[[W:[^:]*]]: memref<8xf32> {llvm.noalias}, %{{.*}}: index, %[[Y:[^:]*]]: memref<?x8xf32> {llvm.noalias}) attributes {no_inline}
// CHECK:         scf.for
// CHECK-NEXT:      scf.for
// CHECK-NEXT:        memref.load %[[X]]
// CHECK-NEXT:        memref.load %[[W]]
// CHECK-NEXT:        arith.mulf
// CHECK-NEXT:        arith.negf
// CHECK-NEXT:        memref.store %{{.*}}, %[[Y]]

// LLVM: llvm.func @chain(
func.func @chain(%w: tensor<8xf32> {plumbline.weight = "w"}, %x: tensor<?x8xf32> {plumbline.shape = affine_map<()[s0] -> (s0, 8)>}) -> tensor<?x8xf32> attributes {plumbline.symbols = [{name = "n", min_val = 1 : i64, max_val = 9 : i64}]} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x, %w : tensor<?x8xf32>, tensor<8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %1 = arith.mulf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<?x8xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%a: f32, %c: f32):
    %1 = arith.negf %a : f32
    linalg.yield %1 : f32
  } -> tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}
