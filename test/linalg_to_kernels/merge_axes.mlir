// RUN: tcp-opt %s -split-input-file -merge-axes | FileCheck %s

#all = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#points = affine_map<(d0, d1, d2) -> (d1, d2)>
#one = affine_map<(d0, d1, d2) -> (0, d1, d2)>
#id = affine_map<(d0, d1) -> (d0, d1)>

// How far points are from where they are on average: both axes of points are one in all that is
// computed. The argument is taken as such, and the result is given as it was.
// CHECK-DAG:   #[[ALL:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG:   #[[POINTS:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG:   #[[ONE:.*]] = affine_map<(d0, d1) -> (0, d1)>
// CHECK-LABEL: func.func @distances(
// CHECK-DAG:     %[[X:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0], [1, 2]] : tensor<9x100x3xf32> into tensor<9x300xf32>
// CHECK-DAG:     %[[INIT:.*]] = tensor.collapse_shape %arg1 {{\[\[}}0, 1]] : tensor<100x3xf32> into tensor<300xf32>
// CHECK:         %[[SUM:.*]] = linalg.generic {indexing_maps = [#[[ALL]], #[[POINTS]]], iterator_types = ["reduction", "parallel"]} ins(%[[X]] : tensor<9x300xf32>) outs(%[[INIT]] : tensor<300xf32>)
// CHECK:         %[[ROW:.*]] = tensor.expand_shape %[[SUM]] {{\[\[}}0, 1]] output_shape [1, 300]
// CHECK:         %[[FAR:.*]] = linalg.generic {indexing_maps = [#[[ALL]], #[[ONE]], #[[ALL]]], iterator_types = ["parallel", "parallel"]} ins(%[[X]], %[[ROW]] : tensor<9x300xf32>, tensor<1x300xf32>)
// CHECK:         %[[RESULT:.*]] = tensor.expand_shape %[[FAR]] {{\[\[}}0], [1, 2]] output_shape [9, 100, 3]
// CHECK:         return %[[RESULT]]
func.func @distances(%x: tensor<9x100x3xf32>, %init: tensor<100x3xf32>) -> tensor<9x100x3xf32> {
  %0 = linalg.generic {indexing_maps = [#all, #points], iterator_types = ["reduction", "parallel", "parallel"]} ins(%x : tensor<9x100x3xf32>) outs(%init : tensor<100x3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<100x3xf32>
  %1 = tensor.expand_shape %0 [[0, 1], [2]] output_shape [1, 100, 3] : tensor<100x3xf32> into tensor<1x100x3xf32>
  %e = tensor.empty() : tensor<9x100x3xf32>
  %2 = linalg.generic {indexing_maps = [#all, #one, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %1 : tensor<9x100x3xf32>, tensor<1x100x3xf32>) outs(%e : tensor<9x100x3xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<9x100x3xf32>
  return %2 : tensor<9x100x3xf32>
}

// -----

#all = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#matrices = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>

// Of small matrices there is then one axis, which is short, too. The numbers of the other loops are
// counted anew.
// CHECK-LABEL: func.func @matrices(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel"]} ins(%{{.*}} : tensor<5x9x300xf32>)
// CHECK:         linalg.index 1
// CHECK-NOT:     linalg.index
func.func @matrices(%x: tensor<5x9x100x3xf32>, %init: tensor<5x100x3xf32>) -> tensor<5x100x3xf32> {
  %0 = linalg.generic {indexing_maps = [#all, #matrices], iterator_types = ["parallel", "reduction", "parallel", "parallel"]} ins(%x : tensor<5x9x100x3xf32>) outs(%init : tensor<5x100x3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i32
    %f = arith.sitofp %j : i32 to f32
    %p = arith.mulf %f, %a : f32
    %s = arith.addf %o, %p fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<5x100x3xf32>
  return %0 : tensor<5x100x3xf32>
}

// -----

#all = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#kept = affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>

// All that is beside what is added up becomes one axis, as long as the last one is short.
// CHECK-LABEL: func.func @three(
// CHECK:         linalg.generic {{.*}}iterator_types = ["reduction", "parallel"]} ins(%{{.*}} : tensor<9x900xf32>)
func.func @three(%x: tensor<9x100x3x3xf32>, %init: tensor<100x3x3xf32>) -> tensor<100x3x3xf32> {
  %0 = linalg.generic {indexing_maps = [#all, #kept], iterator_types = ["reduction", "parallel", "parallel", "parallel"]} ins(%x : tensor<9x100x3x3xf32>) outs(%init : tensor<100x3x3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<100x3x3xf32>
  return %0 : tensor<100x3x3xf32>
}

// -----

#all = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#points = affine_map<(d0, d1, d2) -> (d1, d2)>
#last = affine_map<(d0, d1, d2) -> (d2)>

// What one coordinate is multiplied with is along one of both axes; which coordinate it is would
// have to be told of one axis. A long axis is as good as one of both.
// CHECK-LABEL: func.func @scaled(
// CHECK-NOT:     tensor.collapse_shape
// CHECK:         return
func.func @scaled(%x: tensor<9x100x3xf32>, %w: tensor<3xf32>, %init: tensor<100x3xf32>, %y: tensor<9x100x64xf32>, %more: tensor<100x64xf32>) -> (tensor<100x3xf32>, tensor<100x3xf32>, tensor<100x64xf32>) {
  %0 = linalg.generic {indexing_maps = [#all, #last, #points], iterator_types = ["reduction", "parallel", "parallel"]} ins(%x, %w : tensor<9x100x3xf32>, tensor<3xf32>) outs(%init : tensor<100x3xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.divf %a, %b : f32
    %s = arith.addf %o, %d fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<100x3xf32>
  %1 = linalg.generic {indexing_maps = [#all, #points], iterator_types = ["reduction", "parallel", "parallel"]} ins(%x : tensor<9x100x3xf32>) outs(%init : tensor<100x3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 2 : index
    %j = arith.index_cast %i : index to i32
    %f = arith.sitofp %j : i32 to f32
    %p = arith.mulf %f, %a : f32
    %s = arith.addf %o, %p fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<100x3xf32>
  %2 = linalg.generic {indexing_maps = [#all, #points], iterator_types = ["reduction", "parallel", "parallel"]} ins(%y : tensor<9x100x64xf32>) outs(%more : tensor<100x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<100x64xf32>
  return %0, %1, %2 : tensor<100x3xf32>, tensor<100x3xf32>, tensor<100x64xf32>
}

// -----

#all = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#points = affine_map<(d0, d1, d2) -> (d1, d2)>
#rows = affine_map<(d0, d1) -> (d0, d1)>
#sums = affine_map<(d0, d1) -> (d0)>

// Nor is anything merged where a later reduction is along one of both.
// CHECK-LABEL: func.func @reduced_again(
// CHECK-NOT:     tensor.collapse_shape
// CHECK:         return
func.func @reduced_again(%x: tensor<9x100x3xf32>, %init: tensor<100x3xf32>, %zeros: tensor<100xf32>) -> tensor<100xf32> {
  %0 = linalg.generic {indexing_maps = [#all, #points], iterator_types = ["reduction", "parallel", "parallel"]} ins(%x : tensor<9x100x3xf32>) outs(%init : tensor<100x3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<100x3xf32>
  %1 = linalg.generic {indexing_maps = [#rows, #sums], iterator_types = ["parallel", "reduction"]} ins(%0 : tensor<100x3xf32>) outs(%zeros : tensor<100xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<100xf32>
  return %1 : tensor<100xf32>
}
