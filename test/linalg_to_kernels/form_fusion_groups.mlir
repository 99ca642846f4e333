// RUN: tcp-opt %s -form-fusion-groups -split-input-file | FileCheck %s

#rows = affine_map<(d0) -> (d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// What can be done row by row is one group, through reshapes too.
// CHECK-LABEL: func.func @softmax(
// CHECK:         %[[Y:.*]] = call @max_sub_exp_sum_div(%arg0)
// CHECK:         return %[[Y]]
// CHECK:       func.func private @max_sub_exp_sum_div(%{{.*}}: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {plumbline.group = "max_sub_exp_sum_div"}
// CHECK-COUNT-6: linalg.generic
// CHECK-NOT:     linalg.generic
func.func @softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#rows], iterator_types = ["parallel"]} outs(%e : tensor<4xf32>) {
  ^bb0(%o: f32):
    linalg.yield %low : f32
  } -> tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%0 : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %o, %a : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %column = tensor.expand_shape %1 [[0, 1]] output_shape [4, 1] : tensor<4xf32> into tensor<4x1xf32>
  %2 = linalg.generic {indexing_maps = [#id, affine_map<(d0, d1) -> (d0, 0)>, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %column : tensor<4x8xf32>, tensor<4x1xf32>) outs(%f : tensor<4x8xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    %r = math.exp %d : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  %3 = linalg.generic {indexing_maps = [#rows], iterator_types = ["parallel"]} outs(%e : tensor<4xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  } -> tensor<4xf32>
  %4 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%2 : tensor<4x8xf32>) outs(%3 : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %5 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%2, %4 : tensor<4x8xf32>, tensor<4xf32>) outs(%f : tensor<4x8xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %r = arith.divf %a, %s : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  return %5 : tensor<4x8xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// What is used elsewhere too is a result of the group, and reshapes of it follow the call. Groups
// alike share a function.
// CHECK-LABEL: func.func @used_twice(
// CHECK:         %[[Z:.*]] = call @exp_add(%arg1) : (tensor<8xf32>) -> tensor<8xf32>
// CHECK:         %[[Y:.*]]:2 = call @exp_add_0(%arg0) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
// CHECK-NEXT:    %[[V:.*]] = tensor.expand_shape %[[Y]]#0
// CHECK-NEXT:    %[[W:.*]] = call @exp_add(%arg2)
// CHECK:         return %[[V]], %[[Y]]#1, %[[Z]], %[[W]]
func.func @used_twice(%x: tensor<8xf32>, %y: tensor<8xf32>, %z: tensor<8xf32>) -> (tensor<2x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %view = tensor.expand_shape %0 [[0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%y : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    %s = arith.addf %r, %one : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%0 : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %one : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%z : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    %s = arith.addf %r, %one : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %view, %2, %1, %3 : tensor<2x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
#all = affine_map<(d0, d1) -> (d1)>
#out = affine_map<(d0, d1) -> (d0, d1)>

// What is broadcast is computed in the group that reads it.
// CHECK-LABEL: func.func @broadcast(
// CHECK:         %[[Y:.*]] = call @tanh_neg_add(%arg0, %arg1)
func.func @broadcast(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %f = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.tanh %a : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%y : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.negf %a : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %2 = linalg.generic {indexing_maps = [#all, #all, #out], iterator_types = ["parallel", "parallel"]} ins(%0, %1 : tensor<8xf32>, tensor<8xf32>) outs(%f : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

#left = affine_map<(d0, d1, d2) -> (d0, d1)>
#right = affine_map<(d0, d1, d2) -> (d1, d2)>
#out = affine_map<(d0, d1, d2) -> (d0, d2)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#transposed = affine_map<(d0, d1) -> (d1, d0)>

// A contraction takes transpositions of its operands in, and what it starts from.
// CHECK-LABEL: func.func @linear(
// CHECK:         %[[Y:.*]] = call @matmul_kernel(
// CHECK:         return %[[Y]]
func.func @linear(%x: tensor<32x64xf32>, %w: tensor<48x64xf32>) -> tensor<32x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x48xf32>
  %f = tensor.empty() : tensor<32x48xf32>
  %0 = linalg.generic {indexing_maps = [#transposed, #id], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<48x64xf32>) outs(%e : tensor<64x48xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<64x48xf32>
  %1 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%f : tensor<32x48xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  } -> tensor<32x48xf32>
  %2 = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "reduction", "parallel"]} ins(%x, %0 : tensor<32x64xf32>, tensor<64x48xf32>) outs(%1 : tensor<32x48xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<32x48xf32>
  return %2 : tensor<32x48xf32>
}

// -----

// What is read at places that are computed has to be there as a whole: the two make no group, though
// the one also reads the other's elements in turn.

// CHECK-LABEL: func.func @gather_of_a_producer(
// CHECK:         %[[P:.*]] = call @{{.*}}(%arg0)
// CHECK:         call @{{.*}}(%arg1, %[[P]])
// CHECK:         return
#id = affine_map<(d0) -> (d0)>
func.func @gather_of_a_producer(%x: tensor<8xf32>, %i: tensor<8xi64>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %a : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %g = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%i, %p : tensor<8xi64>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: i64, %b: f32, %o: f32):
    %at = arith.index_cast %a : i64 to index
    %0 = tensor.extract %p[%at] : tensor<8xf32>
    %1 = arith.addf %0, %b : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  return %g : tensor<8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// What is told by where an element is is computed by each that reads it, not stored for them.
// CHECK-LABEL: func.func @mask_of_two(
// CHECK-NOT:     i1
// CHECK-COUNT-2: call @{{.*}} : (tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK-NOT:     call
// CHECK:         return
// CHECK-COUNT-2: arith.cmpi
func.func @mask_of_two(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %f = tensor.empty() : tensor<8x8xf32>
  %b = tensor.empty() : tensor<8x8xi1>
  %mask = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%b : tensor<8x8xi1>) {
  ^bb0(%o: i1):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %r = arith.cmpi sle, %j, %i : index
    linalg.yield %r : i1
  } -> tensor<8x8xi1>
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%mask, %x : tensor<8x8xi1>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) {
  ^bb0(%m: i1, %a: f32, %o: f32):
    %r = arith.select %m, %a, %zero : f32
    linalg.yield %r : f32
  } -> tensor<8x8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%mask, %y : tensor<8x8xi1>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) {
  ^bb0(%m: i1, %a: f32, %o: f32):
    %s = arith.addf %a, %a : f32
    %r = arith.select %m, %s, %zero : f32
    linalg.yield %r : f32
  } -> tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

#image = affine_map<(n, c, y, x, i, j) -> (n, c, y * 2 + i, x * 2 + j)>
#window = affine_map<(n, c, y, x, i, j) -> (c, i, j)>
#result = affine_map<(n, c, y, x, i, j) -> (n, c, y, x)>

// A depthwise convolution lays zeros around its image by itself, and takes it as it is. Another
// number, or what another kind of computation reads, is padded before it.
// CHECK-LABEL: func.func @pads(
// CHECK-SAME:      %[[X:.*]]: tensor<2x8x30x?xf32>, %[[W:.*]]: tensor<8x3x3xf32>
// CHECK:         %[[ZEROS:.*]] = tensor.pad %[[X]]
// CHECK:         %[[ONES:.*]] = tensor.pad %[[X]]
// CHECK:         call @conv_kernel_0(%{{.*}}, %[[X]], %[[W]])
// CHECK-NEXT:    call @conv_kernel(%{{.*}}, %[[ONES]], %[[W]])
// CHECK-NEXT:    call @exp_kernel(%[[ZEROS]], %{{.*}})
// CHECK:       func.func private @exp_kernel(
// CHECK-NOT:     tensor.pad
// CHECK:       func.func private @conv_kernel_0(%{{.*}}: index, %[[X:.*]]: tensor<2x8x30x?xf32>, %{{.*}}: tensor<8x3x3xf32>)
// CHECK:         %[[PADDED:.*]] = tensor.pad %[[X]] low[0, 0, 1, 1] high[0, 0, 1, 1]
// CHECK:         linalg.generic {{.*}} ins(%[[PADDED]],
func.func @pads(%x: tensor<2x8x30x?xf32>, %w: tensor<8x3x3xf32>, %width: index, %padded_width: index) -> (tensor<2x8x15x?xf32>, tensor<2x8x15x?xf32>, tensor<2x8x32x?xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %zeros = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<2x8x30x?xf32> to tensor<2x8x32x?xf32>
  %ones = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %one : f32
  } : tensor<2x8x30x?xf32> to tensor<2x8x32x?xf32>
  %e = tensor.empty(%width) : tensor<2x8x15x?xf32>
  %f = linalg.generic {indexing_maps = [affine_map<(n, c, y, x) -> (n, c, y, x)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%e : tensor<2x8x15x?xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  } -> tensor<2x8x15x?xf32>
  %0 = linalg.generic {indexing_maps = [#image, #window, #result], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%zeros, %w : tensor<2x8x32x?xf32>, tensor<8x3x3xf32>) outs(%f : tensor<2x8x15x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<2x8x15x?xf32>
  %1 = linalg.generic {indexing_maps = [#image, #window, #result], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%ones, %w : tensor<2x8x32x?xf32>, tensor<8x3x3xf32>) outs(%f : tensor<2x8x15x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<2x8x15x?xf32>
  %g = tensor.empty(%padded_width) : tensor<2x8x32x?xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(n, c, y, x) -> (n, c, y, x)>, affine_map<(n, c, y, x) -> (n, c, y, x)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%zeros : tensor<2x8x32x?xf32>) outs(%g : tensor<2x8x32x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<2x8x32x?xf32>
  return %0, %1, %2 : tensor<2x8x15x?xf32>, tensor<2x8x15x?xf32>, tensor<2x8x32x?xf32>
}

// -----

#image = affine_map<(n, c, y, x, i, j) -> (n, c, y + i, x + j)>
#window = affine_map<(n, c, y, x, i, j) -> (c, i, j)>
#result = affine_map<(n, c, y, x, i, j) -> (n, c, y, x)>
#planes = affine_map<(n, y, x, c) -> (n, c, y, x)>
#id = affine_map<(n, y, x, c) -> (n, y, x, c)>

// Whoever wants its channels last reorders what a depthwise convolution gives, which is made along
// planes; in the other order each sum would be gathered for.
// CHECK-LABEL: func.func @depthwise_with_channels_last(
// CHECK:         %[[PLANES:.*]] = call @conv_kernel(
// CHECK-NEXT:    call @exp_kernel(%[[PLANES]])
func.func @depthwise_with_channels_last(%x: tensor<2x8x30x30xf32>, %w: tensor<8x3x3xf32>) -> tensor<2x28x28x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x8x28x28xf32>
  %f = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%e : tensor<2x8x28x28xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  } -> tensor<2x8x28x28xf32>
  %0 = linalg.generic {indexing_maps = [#image, #window, #result], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%x, %w : tensor<2x8x30x30xf32>, tensor<8x3x3xf32>) outs(%f : tensor<2x8x28x28xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<2x8x28x28xf32>
  %g = tensor.empty() : tensor<2x28x28x8xf32>
  %1 = linalg.generic {indexing_maps = [#planes, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%0 : tensor<2x8x28x28xf32>) outs(%g : tensor<2x28x28x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<2x28x28x8xf32>
  return %1 : tensor<2x28x28x8xf32>
}

// -----

#planes = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#channels_last = affine_map<(d0, d1, d2) -> (d1, d2, d0)>
#rows = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#transposed = affine_map<(d0, d1) -> (d1, d0)>

// What is transposed there and back is read where it lies, one step after the other.
// CHECK-LABEL: func.func @there_and_back(
// CHECK:         %[[Y:.*]] = call @{{.*}}(%arg0)
// CHECK-NEXT:    return %[[Y]]
func.func @there_and_back(%x: tensor<8x6x32xf32>) -> tensor<8x32xf32> {
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<32x8x6xf32>
  %f = tensor.empty() : tensor<32x8xf32>
  %g = tensor.empty() : tensor<8x32xf32>
  %0 = linalg.generic {indexing_maps = [#channels_last, #planes], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<8x6x32xf32>) outs(%e : tensor<32x8x6xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<32x8x6xf32>
  %1 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%f : tensor<32x8xf32>) {
  ^bb0(%o: f32):
    linalg.yield %low : f32
  } -> tensor<32x8xf32>
  %2 = linalg.generic {indexing_maps = [#planes, #rows], iterator_types = ["parallel", "parallel", "reduction"]} ins(%0 : tensor<32x8x6xf32>) outs(%1 : tensor<32x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %o : f32
    linalg.yield %m : f32
  } -> tensor<32x8xf32>
  %3 = linalg.generic {indexing_maps = [#transposed, #id], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<32x8xf32>) outs(%g : tensor<8x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<8x32xf32>
  return %3 : tensor<8x32xf32>
}
