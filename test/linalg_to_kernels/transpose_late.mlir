// RUN: tcp-opt %s -split-input-file -transpose-late | FileCheck %s

#planes = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#turned = affine_map<(d0, d1, d2) -> (d1, d2, d0)>
#window = affine_map<(d0, d1, d2, d3) -> (d0, d1 + d3, d2)>
#pooled = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>

// Zeros are laid around what lies with channels last, before it is turned.
// CHECK-LABEL: func.func @pad(
// CHECK-SAME:      %[[X:.*]]: tensor<?x7x32xf32>
// CHECK:         %[[PADDED:.*]] = tensor.pad %[[X]] low[1, 0, 0] high[2, 0, 0]
// CHECK:         : tensor<?x7x32xf32> to tensor<?x7x32xf32>
// CHECK:         %[[SIZE:.*]] = tensor.dim %[[PADDED]], %{{.*}}
// CHECK:         %[[EMPTY:.*]] = tensor.empty(%[[SIZE]]) : tensor<32x?x7xf32>
// CHECK:         %[[TURNED:.*]] = linalg.generic {{.*}} ins(%[[PADDED]] : {{.*}}) outs(%[[EMPTY]] :
// CHECK-NOT:     tensor.pad
// CHECK:         linalg.generic {{.*}} ins(%[[TURNED]], %{{.*}} :
func.func @pad(%x: tensor<?x7x32xf32>, %window: tensor<2xf32>, %e: tensor<32x?x7xf32>, %f: tensor<32x?x7xf32>) -> tensor<32x?x7xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.generic {indexing_maps = [#turned, #planes], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<?x7x32xf32>) outs(%e : tensor<32x?x7xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<32x?x7xf32>
  %1 = tensor.pad %0 low[0, 1, 0] high[0, 2, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : f32
  } : tensor<32x?x7xf32> to tensor<32x?x7xf32>
  %2 = linalg.generic {indexing_maps = [#window, affine_map<(d0, d1, d2, d3) -> (d3)>, #pooled], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%1, %window : tensor<32x?x7xf32>, tensor<2xf32>) outs(%f : tensor<32x?x7xf32>) {
  ^bb0(%a: f32, %w: f32, %o: f32):
    %m = arith.maximumf %a, %o : f32
    linalg.yield %m : f32
  } -> tensor<32x?x7xf32>
  return %2 : tensor<32x?x7xf32>
}

// -----

#planes = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>

// A convolution's kernel lays zeros around the image by itself.
// CHECK-LABEL: func.func @pad_of_convolution(
// CHECK:         linalg.generic
// CHECK:         tensor.pad %{{.*}} low[0, 1] high[0, 1]
func.func @pad_of_convolution(%x: tensor<30x8xf32>, %weights: tensor<8x3xf32>, %e: tensor<8x30xf32>, %f: tensor<8x30xf32>) -> tensor<8x30xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.generic {indexing_maps = [#turned, #planes], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<30x8xf32>) outs(%e : tensor<8x30xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<8x30xf32>
  %1 = tensor.pad %0 low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<8x30xf32> to tensor<8x32xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1 + d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%1, %weights : tensor<8x32xf32>, tensor<8x3xf32>) outs(%f : tensor<8x30xf32>) {
  ^bb0(%a: f32, %w: f32, %o: f32):
    %p = arith.mulf %a, %w : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<8x30xf32>
  return %2 : tensor<8x30xf32>
}

// -----

#planes = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#places = affine_map<(d0, d1) -> (d1)>

// Elements at computed places of each channel, which is what lies side by side before they are
// turned, and is to again: places are the same for all channels, though they are broadcast.
// CHECK-LABEL: func.func @gather(
// CHECK-SAME:      %[[X:.*]]: tensor<30x8xf32>
// CHECK:         linalg.generic
// CHECK:         %[[CHANNEL:.*]] = linalg.index 0
// CHECK:         %[[PLACE:.*]] = arith.index_cast
// CHECK:         tensor.extract %[[X]][%[[PLACE]], %[[CHANNEL]]]
func.func @gather(%x: tensor<30x8xf32>, %at: tensor<90xi64>, %e: tensor<8x30xf32>, %f: tensor<8x90xf32>, %g: tensor<90x8xf32>, %h: tensor<8x90xi64>) -> tensor<90x8xf32> {
  %0 = linalg.generic {indexing_maps = [#turned, #planes], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<30x8xf32>) outs(%e : tensor<8x30xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<8x30xf32>
  %1 = linalg.generic {indexing_maps = [#places, #planes], iterator_types = ["parallel", "parallel"]} ins(%at : tensor<90xi64>) outs(%h : tensor<8x90xi64>) {
  ^bb0(%a: i64, %o: i64):
    linalg.yield %a : i64
  } -> tensor<8x90xi64>
  %2 = linalg.generic {indexing_maps = [#planes, #planes], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<8x90xi64>) outs(%f : tensor<8x90xf32>) {
  ^bb0(%a: i64, %o: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %a : i64 to index
    %y = tensor.extract %0[%i, %j] : tensor<8x30xf32>
    linalg.yield %y : f32
  } -> tensor<8x90xf32>
  %3 = linalg.generic {indexing_maps = [#planes, #planes], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<8x90xf32>) outs(%f : tensor<8x90xf32>) {
  ^bb0(%a: f32, %o: f32):
    %y = arith.addf %a, %a : f32
    linalg.yield %y : f32
  } -> tensor<8x90xf32>
  %4 = linalg.generic {indexing_maps = [#turned, #planes], iterator_types = ["parallel", "parallel"]} ins(%3 : tensor<8x90xf32>) outs(%g : tensor<90x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<90x8xf32>
  return %4 : tensor<90x8xf32>
}

// Where what is gathered stays as it is, rows are turned first, once for all.
// CHECK-LABEL: func.func @gather_of_turned(
// CHECK:         %[[TURNED:.*]] = linalg.generic
// CHECK:         tensor.extract %[[TURNED]]
func.func @gather_of_turned(%x: tensor<30x8xf32>, %at: tensor<90xi64>, %e: tensor<8x30xf32>, %f: tensor<8x90xf32>) -> tensor<8x90xf32> {
  %0 = linalg.generic {indexing_maps = [#turned, #planes], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<30x8xf32>) outs(%e : tensor<8x30xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<8x30xf32>
  %1 = linalg.generic {indexing_maps = [#places, #planes], iterator_types = ["parallel", "parallel"]} ins(%at : tensor<90xi64>) outs(%f : tensor<8x90xf32>) {
  ^bb0(%a: i64, %o: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %a : i64 to index
    %y = tensor.extract %0[%i, %j] : tensor<8x30xf32>
    linalg.yield %y : f32
  } -> tensor<8x90xf32>
  return %1 : tensor<8x90xf32>
}

// -----

#planes = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#turned = affine_map<(d0, d1, d2) -> (d1, d2, d0)>
#back = affine_map<(d0, d1, d2) -> (d2, d0, d1)>

// What is transposed there and back is what it was; there twice it is not.
// CHECK-LABEL: func.func @there_and_back(
// CHECK-SAME:      %[[X:.*]]: tensor<5x7x32xf32>
// CHECK:         %[[PADDED:.*]] = tensor.pad %[[X]] low[1, 0, 0] high[0, 0, 0]
// CHECK-NOT:     linalg.generic
// CHECK:         return %[[PADDED]] :
func.func @there_and_back(%x: tensor<5x7x32xf32>, %e: tensor<32x5x7xf32>, %f: tensor<6x7x32xf32>) -> tensor<6x7x32xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.generic {indexing_maps = [#turned, #planes], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<5x7x32xf32>) outs(%e : tensor<32x5x7xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<32x5x7xf32>
  %1 = tensor.pad %0 low[0, 1, 0] high[0, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : f32
  } : tensor<32x5x7xf32> to tensor<32x6x7xf32>
  %2 = linalg.generic {indexing_maps = [#back, #planes], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1 : tensor<32x6x7xf32>) outs(%f : tensor<6x7x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<6x7x32xf32>
  return %2 : tensor<6x7x32xf32>
}

// CHECK-LABEL: func.func @there_twice(
// CHECK:         linalg.generic
// CHECK:         linalg.generic
func.func @there_twice(%x: tensor<5x5x5xf32>, %e: tensor<5x5x5xf32>) -> tensor<5x5x5xf32> {
  %0 = linalg.generic {indexing_maps = [#turned, #planes], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<5x5x5xf32>) outs(%e : tensor<5x5x5xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<5x5x5xf32>
  %1 = linalg.generic {indexing_maps = [#turned, #planes], iterator_types = ["parallel", "parallel", "parallel"]} ins(%0 : tensor<5x5x5xf32>) outs(%e : tensor<5x5x5xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<5x5x5xf32>
  return %1 : tensor<5x5x5xf32>
}

// -----

#planes = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#turned = affine_map<(d0, d1, d2) -> (d1, d2, d0)>
#back = affine_map<(d0, d1, d2) -> (d2, d0, d1)>
#rows = affine_map<(d0, d1, d2) -> (d0, d1)>

// Parts are taken, and put together, where channels are contiguous, if they are so in the end. Axes
// of size 1 come before channels.
// CHECK-LABEL: func.func @parts(
// CHECK-SAME:      %[[X:[^:]*]]: tensor<7x30x8xf32>, %[[N:[^:]*]]: index
// CHECK:         %[[PART:.*]] = tensor.extract_slice %[[X]][0, %[[N]], 0] [7, 4, 8] [1, 2, 1]
// CHECK:         %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[PART]] : tensor<7x4x8xf32>)
// CHECK:         %[[ROW:.*]] = tensor.expand_shape %[[SUM]]
// CHECK-SAME:        output_shape [7, 1, 8] : tensor<7x8xf32>
// CHECK:         %[[ONE:.*]] = tensor.insert_slice %[[ROW]] into %{{.*}}[0, 0, 0] [7, 1, 8]
// CHECK:         %[[BOTH:.*]] = tensor.insert_slice %[[ROW]] into %[[ONE]][0, %[[N]], 0] [7, 1, 8]
// CHECK-NOT:     linalg.generic
// CHECK:         return %[[BOTH]] : tensor<7x2x8xf32>
func.func @parts(%x: tensor<7x30x8xf32>, %n: index, %e: tensor<8x7x30xf32>, %f: tensor<8x7xf32>, %g: tensor<7x2x8xf32>) -> tensor<7x2x8xf32> {
  %0 = linalg.generic {indexing_maps = [#turned, #planes], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<7x30x8xf32>) outs(%e : tensor<8x7x30xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<8x7x30xf32>
  %1 = tensor.extract_slice %0[0, 0, %n] [8, 7, 4] [1, 1, 2] : tensor<8x7x30xf32> to tensor<8x7x4xf32>
  %2 = linalg.generic {indexing_maps = [#planes, #rows], iterator_types = ["parallel", "parallel", "reduction"]} ins(%1 : tensor<8x7x4xf32>) outs(%f : tensor<8x7xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<8x7xf32>
  %3 = tensor.expand_shape %2 [[0], [1, 2]] output_shape [8, 7, 1] : tensor<8x7xf32> into tensor<8x7x1xf32>
  %4 = tensor.empty() : tensor<8x7x2xf32>
  %5 = tensor.insert_slice %3 into %4[0, 0, 0] [8, 7, 1] [1, 1, 1] : tensor<8x7x1xf32> into tensor<8x7x2xf32>
  %6 = tensor.insert_slice %3 into %5[0, 0, %n] [8, 7, 1] [1, 1, 1] : tensor<8x7x1xf32> into tensor<8x7x2xf32>
  %7 = linalg.generic {indexing_maps = [#back, #planes], iterator_types = ["parallel", "parallel", "parallel"]} ins(%6 : tensor<8x7x2xf32>) outs(%g : tensor<7x2x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<7x2x8xf32>
  return %7 : tensor<7x2x8xf32>
}

// Where what is made of them stays turned, so do parts.
// CHECK-LABEL: func.func @parts_of_turned(
// CHECK:         %[[TURNED:.*]] = linalg.generic
// CHECK:         tensor.extract_slice %[[TURNED]]
func.func @parts_of_turned(%x: tensor<7x30x8xf32>, %e: tensor<8x7x30xf32>) -> tensor<8x7x4xf32> {
  %0 = linalg.generic {indexing_maps = [#turned, #planes], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<7x30x8xf32>) outs(%e : tensor<8x7x30xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<8x7x30xf32>
  %1 = tensor.extract_slice %0[0, 0, 1] [8, 7, 4] [1, 1, 2] : tensor<8x7x30xf32> to tensor<8x7x4xf32>
  return %1 : tensor<8x7x4xf32>
}
