// RUN: tcp-opt %s -convert-tcp-to-linalg -canonicalize -cse -split-input-file | FileCheck %s

// Groups of several channels are a loop of their own.
// CHECK-LABEL: func.func @conv(
// CHECK:         tensor.expand_shape {{.*}} : tensor<4x3x3xf32> into tensor<2x2x3x3xf32>
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel"]
// CHECK:         tensor.pad
// CHECK:         tensor.expand_shape {{.*}} : tensor<1x6x10xf32> into tensor<1x2x3x10xf32>
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "parallel"]
// CHECK:         arith.mulf
// CHECK:         arith.addf
// CHECK:         tensor.collapse_shape
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @conv(%arg0: tensor<1x6x8xf32>, %arg1: tensor<4x3x3xf32>) -> tensor<1x4x4xf32> {
  %0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 2 : i64, padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf32>
  return %0 : tensor<1x4x4xf32>
}

// A group for each channel needs none: the input's channel is the result's.
// CHECK-LABEL: func.func @depthwise(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel"]
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction", "reduction", "parallel"]
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @depthwise(%arg0: tensor<1x6x8xf32>, %arg1: tensor<6x1x3xf32>) -> tensor<1x6x6xf32> {
  %0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 6 : i64, padding_high = [0], padding_low = [0], strides = [1]} : tensor<1x6x8xf32>, tensor<6x1x3xf32> -> tensor<1x6x6xf32>
  return %0 : tensor<1x6x6xf32>
}

// So are groups of channels whose number is not known, as in the gradient of a weight.
// CHECK-LABEL: func.func @dynamic_groups(
// CHECK-SAME:      %[[INPUT:.*]]: tensor<3x?x8xf32>, %[[WEIGHT:.*]]: tensor<4x?x6xf32>
// CHECK:         tensor.expand_shape %[[WEIGHT]] {{.*}} : tensor<4x?x6xf32> into tensor<2x2x?x6xf32>
// CHECK:         %[[CHANNELS:.*]] = tensor.dim %[[INPUT]], %c1
// CHECK:         %[[OF_A_GROUP:.*]] = arith.divsi %[[CHANNELS]], %c2
// CHECK:         tensor.expand_shape %[[INPUT]] {{.*}} output_shape [3, 2, %[[OF_A_GROUP]], 8] : tensor<3x?x8xf32> into tensor<3x2x?x8xf32>
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "parallel"]
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @dynamic_groups(%arg0: tensor<3x?x8xf32>, %arg1: tensor<4x?x6xf32>) -> tensor<3x4x3xf32> {
  %0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 2 : i64, padding_high = [0], padding_low = [0], strides = [1]} : tensor<3x?x8xf32>, tensor<4x?x6xf32> -> tensor<3x4x3xf32>
  return %0 : tensor<3x4x3xf32>
}

// -----

// CHECK-LABEL: func.func @conv_2(
// CHECK:         arith.addi
// CHECK:         arith.maxsi
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel"]
// CHECK:         tensor.pad
// CHECK:         tensor.yield
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction", "parallel", "parallel"]
// CHECK:         arith.extf
// CHECK:         arith.extf
// CHECK:         arith.mulf
// CHECK:         arith.addf
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel"]
// CHECK:         arith.truncf
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @conv_2(%arg0: tensor<?x3x?x9xf16>, %arg1: tensor<8x3x3x3xf16>) -> tensor<?x8x?x9xf16> {
  %0 = tcp.conv %arg0, %arg1 {dilations = [2, 1], groups = 1 : i64, padding_high = [0, 1], padding_low = [0, 1], strides = [1, 1]} : tensor<?x3x?x9xf16>, tensor<8x3x3x3xf16> -> tensor<?x8x?x9xf16>
  return %0 : tensor<?x8x?x9xf16>
}

// -----

// Elements 2 apart have the same weights: of 3 these are 2, mirrored, or 1, each a convolution.
// CHECK-LABEL: func.func @conv_transpose(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg1 :
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "parallel"]}
// CHECK:         arith.mulf
// CHECK:         arith.addf
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg1 :
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]}
// CHECK:         arith.mulf
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel"]}
// CHECK:         linalg.index 2
// CHECK:         arith.select
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @conv_transpose(%arg0: tensor<1x6x8xf32>, %arg1: tensor<6x2x3xf32>) -> tensor<1x4x16xf32> {
  %0 = tcp.conv_transpose %arg0, %arg1 {dilations = [1], groups = 2 : i64, output_padding = [1], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<6x2x3xf32> -> tensor<1x4x16xf32>
  return %0 : tensor<1x4x16xf32>
}

// -----

// How many weights there are is not known: each element adds its products where they belong.
// CHECK-LABEL: func.func @conv_transpose_by_any_weights(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction"]
// CHECK:         arith.mulf
// CHECK:         arith.addf
// CHECK:         tensor.extract_slice
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @conv_transpose_by_any_weights(%arg0: tensor<1x6x8xf32>, %arg1: tensor<6x2x?xf32>) -> tensor<1x2x?xf32> {
  %0 = tcp.conv_transpose %arg0, %arg1 {dilations = [1], groups = 1 : i64, output_padding = [1], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<6x2x?xf32> -> tensor<1x2x?xf32>
  return %0 : tensor<1x2x?xf32>
}

// -----

// Along an axis of windows with one element there is no loop over that: so rows of windows of
// whatever size are known to be rows of the image.
// CHECK:         #[[IMAGE:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d3, d4)>
// CHECK-NEXT:    #[[WEIGHT:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d2, 0, 0)>
// CHECK-LABEL: func.func @pointwise(
// CHECK:         linalg.generic {indexing_maps = [#[[IMAGE]], #[[WEIGHT]], #{{.*}}], iterator_types = ["parallel", "parallel", "reduction", "parallel", "parallel"]
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @pointwise(%arg0: tensor<?x6x?x?xf32>, %arg1: tensor<4x6x1x1xf32>) -> tensor<?x4x?x?xf32> {
  %0 = tcp.conv %arg0, %arg1 {dilations = [1, 1], groups = 1 : i64, padding_high = [0, 0], padding_low = [0, 0], strides = [1, 1]} : tensor<?x6x?x?xf32>, tensor<4x6x1x1xf32> -> tensor<?x4x?x?xf32>
  return %0 : tensor<?x4x?x?xf32>
}
