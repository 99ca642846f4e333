// RUN: tcp-opt %s -split-input-file -split-sums | FileCheck %s
// RUN: tcp-opt %s -split-input-file -form-fusion-groups -build-kernels | FileCheck %s --check-prefix=LOOPS

#all = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#groups = affine_map<(d0, d1, d2) -> (d1)>

// Elements of groups of channels, of which each has 8 at a point: those of all points are added up
// for each channel first. It is the squares that are added up, which another computation gives.
// CHECK-LABEL: func.func @groups(
// CHECK:         %[[SQUARES:.*]] = linalg.generic
// CHECK:         %[[ZEROS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<4x8xf32>)
// CHECK:         %[[CHANNELS:.*]] = linalg.generic {{.*}}iterator_types = ["reduction", "parallel", "parallel"]} ins(%[[SQUARES]] : tensor<100x4x8xf32>) outs(%[[ZEROS]] : tensor<4x8xf32>)
// CHECK:         arith.addf %{{.*}} fastmath<reassoc>
// CHECK:         %[[GROUPS:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%[[CHANNELS]] : tensor<4x8xf32>) outs(%arg1 : tensor<4xf32>)
// CHECK:         arith.addf %{{.*}} fastmath<reassoc>
// CHECK:         return %[[GROUPS]]
func.func @groups(%x: tensor<100x4x8xf32>, %sums: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<100x4x8xf32>
  %0 = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<100x4x8xf32>) outs(%e : tensor<100x4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.mulf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<100x4x8xf32>
  %1 = linalg.generic {indexing_maps = [#all, #groups], iterator_types = ["reduction", "parallel", "reduction"]} ins(%0 : tensor<100x4x8xf32>) outs(%sums : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

#all = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#groups = affine_map<(d0, d1, d2) -> (d1)>
#rows = affine_map<(d0, d1, d2) -> (d0)>

// The next run is added up in the same sum, or the order is the program's.
// CHECK-LABEL: func.func @whole(
// CHECK:         linalg.generic
// CHECK-NEXT:    ^bb0
// CHECK:         linalg.generic
// CHECK-NEXT:    ^bb0
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @whole(%x: tensor<100x4x8xf32>, %sums: tensor<100xf32>, %others: tensor<4xf32>) -> (tensor<100xf32>, tensor<4xf32>) {
  %0 = linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "reduction", "reduction"]} ins(%x : tensor<100x4x8xf32>) outs(%sums : tensor<100xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<100xf32>
  %1 = linalg.generic {indexing_maps = [#all, #groups], iterator_types = ["reduction", "parallel", "reduction"]} ins(%x : tensor<100x4x8xf32>) outs(%others : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %0, %1 : tensor<100xf32>, tensor<4xf32>
}

// -----

#all = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#channels = affine_map<(d0, d1, d2) -> (d1, d2)>

// Of each point both loops over what is added to go along, as each alone is short.
// LOOPS-LABEL: func.func private @sum_kernel(
// LOOPS:         scf.for %[[POINT:.*]] = %{{.*}} to %{{.*}} step %c8
// LOOPS-NEXT:      arith.constant
// LOOPS:           scf.for %[[GROUP:[^ ]*]] = %{{.*}} to %c4
// LOOPS:             scf.for %[[CHANNEL:[^ ]*]] = %{{.*}} to %c8
// LOOPS:               memref.load %{{.*}}[%[[POINT]], %[[GROUP]], %[[CHANNEL]]]
func.func @channels(%x: tensor<100x4x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x8xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  } -> tensor<4x8xf32>
  %1 = linalg.generic {indexing_maps = [#all, #channels], iterator_types = ["reduction", "parallel", "parallel"]} ins(%x : tensor<100x4x8xf32>) outs(%0 : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
