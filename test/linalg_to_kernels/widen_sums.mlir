// RUN: tcp-opt %s -split-input-file -widen-sums | FileCheck %s

#all = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#sums = affine_map<(d0, d1, d2) -> (d0, d2)>

// Of 1000 points, those of 50 in a row are added up as 150 elements, then 50 for each coordinate.
// What is added up is widened before.
// CHECK-LABEL: func.func @points(
// CHECK:         %[[FLAT:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0], [1, 2]] : tensor<4x1000x3xf32> into tensor<4x3000xf32>
// CHECK:         %[[RUNS:.*]] = tensor.expand_shape %[[FLAT]] {{\[\[}}0], [1, 2]] output_shape [4, 20, 150]
// CHECK:         %[[ZEROS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<4x150xf64>)
// CHECK:         %[[WIDE:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel"]} ins(%[[RUNS]] : tensor<4x20x150xf32>) outs(%[[ZEROS]] : tensor<4x150xf64>)
// CHECK:         arith.extf
// CHECK-NEXT:    arith.addf %{{.*}} fastmath<reassoc>
// CHECK:         %[[APART:.*]] = tensor.expand_shape %[[WIDE]] {{\[\[}}0], [1, 2]] output_shape [4, 50, 3]
// CHECK:         %[[TOTAL:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel"]} ins(%[[APART]] : tensor<4x50x3xf64>) outs(%arg1 : tensor<4x3xf64>)
// CHECK-NOT:     arith.extf
// CHECK:         return %[[TOTAL]]
func.func @points(%x: tensor<4x1000x3xf32>, %init: tensor<4x3xf64>) -> tensor<4x3xf64> {
  %0 = linalg.generic {indexing_maps = [#all, #sums], iterator_types = ["parallel", "reduction", "parallel"]} ins(%x : tensor<4x1000x3xf32>) outs(%init : tensor<4x3xf64>) {
  ^bb0(%a: f32, %o: f64):
    %w = arith.extf %a : f32 to f64
    %s = arith.addf %o, %w fastmath<reassoc> : f64
    linalg.yield %s : f64
  } -> tensor<4x3xf64>
  return %0 : tensor<4x3xf64>
}

// -----

#all = affine_map<(d0, d1) -> (d0, d1)>
#sums = affine_map<(d0, d1) -> (d1)>

// As they are stay sums of what is computed, which would have to be computed in that shape, of a
// number of points that has no good divisor, and in the order of the program.
// CHECK-LABEL: func.func @others(
// CHECK-NOT:     tensor.expand_shape
// CHECK:         return
func.func @others(%x: tensor<1000x3xf32>, %y: tensor<1009x3xf32>, %init: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %e = tensor.empty() : tensor<1000x3xf32>
  %0 = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<1000x3xf32>) outs(%e : tensor<1000x3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.mulf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<1000x3xf32>
  %1 = linalg.generic {indexing_maps = [#all, #sums], iterator_types = ["reduction", "parallel"]} ins(%0 : tensor<1000x3xf32>) outs(%init : tensor<3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  %2 = linalg.generic {indexing_maps = [#all, #sums], iterator_types = ["reduction", "parallel"]} ins(%y : tensor<1009x3xf32>) outs(%init : tensor<3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  %3 = linalg.generic {indexing_maps = [#all, #sums], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<1000x3xf32>) outs(%init : tensor<3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  return %1, %2, %3 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}
