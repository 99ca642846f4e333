// RUN: tcp-opt %s -expand-contractions | FileCheck %s

#a = affine_map<(b, m, n, k) -> (b, m, k)>
#b = affine_map<(b, m, n, k) -> (b, k, n)>
#c = affine_map<(b, m, n, k) -> (b, m, n)>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(i, j) -> (i, j)>
#id3 = affine_map<(i, j, k) -> (i, j, k)>
#row = affine_map<(i, j) -> (i, 0)>

// The loop over batches becomes two; an operand that was collapsed is what it was before.
// CHECK-LABEL: func.func @heads(
// CHECK-SAME:      %[[A:[^:]*]]: tensor<2x3x?x8xf32>, %[[B:[^:]*]]: tensor<6x8x9xf32>, %[[C:.*]]: tensor<6x?x9xf32>, %[[N:.*]]: index)
// CHECK-NOT:     collapse_shape
// CHECK-DAG:     %[[RIGHT:.*]] = tensor.expand_shape %[[B]] {{\[\[}}0, 1], [2], [3]] output_shape [2, 3, 8, 9]
// CHECK-DAG:     %[[INIT:.*]] = tensor.expand_shape %[[C]] {{\[\[}}0, 1], [2], [3]] output_shape [2, 3, %[[N]], 9]
// CHECK:         %[[OUT:.*]] = linalg.generic {indexing_maps = [#[[MA:.*]], #[[MB:.*]], #[[MC:.*]]], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%[[A]], %[[RIGHT]] : tensor<2x3x?x8xf32>, tensor<2x3x8x9xf32>) outs(%[[INIT]] : tensor<2x3x?x9xf32>)
// CHECK:         return %[[OUT]]
func.func @heads(%a: tensor<2x3x?x8xf32>, %b: tensor<6x8x9xf32>, %c: tensor<6x?x9xf32>, %n: index) -> tensor<2x3x?x9xf32> {
  %0 = tensor.collapse_shape %a [[0, 1], [2], [3]] : tensor<2x3x?x8xf32> into tensor<6x?x8xf32>
  %1 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%0, %b : tensor<6x?x8xf32>, tensor<6x8x9xf32>) outs(%c : tensor<6x?x9xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %m = arith.mulf %l, %r : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<6x?x9xf32>
  %2 = tensor.expand_shape %1 [[0, 1], [2], [3]] output_shape [2, 3, %n, 9] : tensor<6x?x9xf32> into tensor<2x3x?x9xf32>
  return %2 : tensor<2x3x?x9xf32>
}

// So do they where sums are rounded before they have their shape.
// CHECK-LABEL: func.func @rounded(
// CHECK-NOT:     collapse_shape
// CHECK:         %[[SUMS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<2x3x7x9xf32>)
// CHECK:         linalg.generic {{.*}} ins(%[[SUMS]] : tensor<2x3x7x9xf32>) outs(%{{.*}} : tensor<2x3x7x9xbf16>)
func.func @rounded(%a: tensor<2x3x7x8xf32>, %b: tensor<6x8x9xf32>, %c: tensor<6x7x9xf32>) -> tensor<2x3x7x9xbf16> {
  %0 = tensor.collapse_shape %a [[0, 1], [2], [3]] : tensor<2x3x7x8xf32> into tensor<6x7x8xf32>
  %1 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%0, %b : tensor<6x7x8xf32>, tensor<6x8x9xf32>) outs(%c : tensor<6x7x9xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %m = arith.mulf %l, %r : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<6x7x9xf32>
  %e = tensor.empty() : tensor<6x7x9xbf16>
  %2 = linalg.generic {indexing_maps = [#id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1 : tensor<6x7x9xf32>) outs(%e : tensor<6x7x9xbf16>) {
  ^bb0(%s: f32, %o: bf16):
    %t = arith.truncf %s : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<6x7x9xbf16>
  %3 = tensor.expand_shape %2 [[0, 1], [2], [3]] output_shape [2, 3, 7, 9] : tensor<6x7x9xbf16> into tensor<2x3x7x9xbf16>
  return %3 : tensor<2x3x7x9xbf16>
}

// Rows that are several axes; but a weight keeps the axis that it will be packed along.
// CHECK-LABEL: func.func @layers(
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<4x5x6xf32>)
// CHECK:         %[[WHOLE:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<20x6xf32>)
// CHECK:         tensor.expand_shape %[[WHOLE]]
func.func @layers(%w: tensor<6x8xf32> {plumbline.weight = "w"}, %x: tensor<20x8xf32>, %c: tensor<20x6xf32>) -> (tensor<4x5x6xf32>, tensor<20x2x3xf32>) {
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<20x8xf32>, tensor<6x8xf32>) outs(%c : tensor<20x6xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %m = arith.mulf %l, %r : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<20x6xf32>
  %1 = tensor.expand_shape %0 [[0, 1], [2]] output_shape [4, 5, 6] : tensor<20x6xf32> into tensor<4x5x6xf32>
  %2 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<20x8xf32>, tensor<6x8xf32>) outs(%c : tensor<20x6xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %m = arith.mulf %l, %r : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<20x6xf32>
  %3 = tensor.expand_shape %2 [[0], [1, 2]] output_shape [20, 2, 3] : tensor<20x6xf32> into tensor<20x2x3xf32>
  return %1, %3 : tensor<4x5x6xf32>, tensor<20x2x3xf32>
}

// What is computed of each element of a collapsed result is computed in the contraction's shape, and
// that of it, too; sizes are asked of no result.
// CHECK-LABEL: func.func @groups(
// CHECK-SAME:      %{{.*}}: tensor<3x?x8xf32>, %{{.*}}: tensor<3x8x9xf32>, %[[C:[^:]*]]: tensor<3x?x9xf32>, %[[BIAS:[^:]*]]: tensor<?x1xf32>, %[[N:.*]]: index)
// CHECK:         %[[SUMS:.*]] = linalg.generic {{.*}} "reduction"]} {{.*}} outs(%[[C]] : tensor<3x?x9xf32>)
// CHECK-NOT:     tensor.dim %[[SUMS]]
// CHECK:         %[[B:.*]] = tensor.expand_shape %[[BIAS]] {{\[\[}}0, 1], [2]] output_shape [3, %{{.*}}, 1] : tensor<?x1xf32> into tensor<3x?x1xf32>
// CHECK:         %[[INIT:.*]] = tensor.empty(%{{.*}}) : tensor<3x?x9xf32>
// CHECK:         %[[BIASED:.*]] = linalg.generic {indexing_maps = [#[[ID:.*]], #[[ROW:.*]], #[[ID]]], iterator_types = ["parallel", "parallel", "parallel"]} ins(%[[SUMS]], %[[B]] : tensor<3x?x9xf32>, tensor<3x?x1xf32>) outs(%[[INIT]] : tensor<3x?x9xf32>)
// CHECK:         %[[OUT:.*]] = linalg.generic {{.*}} ins(%[[BIASED]] : tensor<3x?x9xf32>)
// CHECK:         %[[WHOLE:.*]] = tensor.collapse_shape %[[OUT]]
// CHECK:         return %[[WHOLE]] : tensor<?x9xf32>
func.func @groups(%a: tensor<3x?x8xf32>, %b: tensor<3x8x9xf32>, %c: tensor<3x?x9xf32>, %bias: tensor<?x1xf32>, %n: index) -> tensor<?x9xf32> {
  %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%a, %b : tensor<3x?x8xf32>, tensor<3x8x9xf32>) outs(%c : tensor<3x?x9xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %m = arith.mulf %l, %r : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<3x?x9xf32>
  %1 = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<3x?x9xf32> into tensor<?x9xf32>
  %e = tensor.empty(%n) : tensor<?x9xf32>
  %2 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%1, %bias : tensor<?x9xf32>, tensor<?x1xf32>) outs(%e : tensor<?x9xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %s = arith.addf %l, %r : f32
    linalg.yield %s : f32
  } -> tensor<?x9xf32>
  %3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<?x9xf32>) outs(%e : tensor<?x9xf32>) {
  ^bb0(%l: f32, %o: f32):
    %s = math.exp %l : f32
    linalg.yield %s : f32
  } -> tensor<?x9xf32>
  return %3 : tensor<?x9xf32>
}

// But not what depends on the place of an element.
// CHECK-LABEL: func.func @places(
// CHECK:         %[[WHOLE:.*]] = tensor.collapse_shape
// CHECK:         %[[OUT:.*]] = linalg.generic {{.*}} ins(%[[WHOLE]] : tensor<?x9xf32>)
// CHECK:         return %[[OUT]]
func.func @places(%a: tensor<3x?x8xf32>, %b: tensor<3x8x9xf32>, %c: tensor<3x?x9xf32>, %e: tensor<?x9xindex>) -> tensor<?x9xindex> {
  %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%a, %b : tensor<3x?x8xf32>, tensor<3x8x9xf32>) outs(%c : tensor<3x?x9xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %m = arith.mulf %l, %r : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<3x?x9xf32>
  %1 = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<3x?x9xf32> into tensor<?x9xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<?x9xf32>) outs(%e : tensor<?x9xindex>) {
  ^bb0(%l: f32, %o: index):
    %i = linalg.index 0 : index
    linalg.yield %i : index
  } -> tensor<?x9xindex>
  return %2 : tensor<?x9xindex>
}

// What sums begin with is made with the axes that they are given, and not reshaped.
// CHECK-LABEL: func.func @filled(
// CHECK-SAME:      %[[A:[^:]*]]: tensor<?x?xf32>, %[[W:[^:]*]]: tensor<?x?xf32>, %[[P:[^:]*]]: index, %[[Q:[^:]*]]: index, %[[M:[^:]*]]: index, %[[N:.*]]: index)
// CHECK:         %[[EMPTY:.*]] = tensor.empty(%[[P]], %[[Q]], %[[N]]) : tensor<?x?x?xf32>
// CHECK:         %[[FILLED:.*]] = linalg.generic {{.*}} outs(%[[EMPTY]] : tensor<?x?x?xf32>)
// CHECK:         linalg.generic {{.*}} outs(%[[FILLED]] : tensor<?x?x?xf32>)
func.func @filled(%a: tensor<?x?xf32>, %w: tensor<?x?xf32>, %p: index, %q: index, %m: index, %n: index) -> tensor<?x?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%m, %n) : tensor<?x?xf32>
  %filled = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<?x?xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  } -> tensor<?x?xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %w : tensor<?x?xf32>, tensor<?x?xf32>) outs(%filled : tensor<?x?xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %product = arith.mulf %l, %r : f32
    %s = arith.addf %o, %product : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  %1 = tensor.expand_shape %0 [[0, 1], [2]] output_shape [%p, %q, %n] : tensor<?x?xf32> into tensor<?x?x?xf32>
  return %1 : tensor<?x?x?xf32>
}
