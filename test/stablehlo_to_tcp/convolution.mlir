// RUN: tcp-opt %s -convert-stablehlo-to-tcp | FileCheck %s

// CHECK-LABEL: func.func @on_1d_f32_f32_f32(
// CHECK:         tcp.conv
// CHECK:         return
func.func @on_1d_f32_f32_f32(%a: tensor<2x3x9xf32>, %b: tensor<4x3x3xf32>) -> (tensor<2x4x7xf32>) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {}
    {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x3x9xf32>, tensor<4x3x3xf32>) -> tensor<2x4x7xf32>
  return %0 : tensor<2x4x7xf32>
}

// CHECK-LABEL: func.func @on_3d_f32_f32_f32(
// CHECK:         tcp.conv
// CHECK:         return
func.func @on_3d_f32_f32_f32(%a: tensor<1x2x4x5x6xf32>, %b: tensor<3x2x2x2x2xf32>) -> (tensor<1x3x3x4x5xf32>) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, f, 0, 1, 2]x[o, i, 0, 1, 2]->[b, f, 0, 1, 2], window = {}
    {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x2x4x5x6xf32>, tensor<3x2x2x2x2xf32>) -> tensor<1x3x3x4x5xf32>
  return %0 : tensor<1x3x3x4x5xf32>
}

// CHECK-LABEL: func.func @on_2d_f32_f32_f32(
// CHECK:         tcp.conv
// CHECK:         return
func.func @on_2d_f32_f32_f32(%a: tensor<2x3x7x8xf32>, %b: tensor<4x3x3x2xf32>) -> (tensor<2x4x5x7xf32>) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {}
    {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x3x7x8xf32>, tensor<4x3x3x2xf32>) -> tensor<2x4x5x7xf32>
  return %0 : tensor<2x4x5x7xf32>
}

// CHECK-LABEL: func.func @on_2d_f64_f64_f64(
// CHECK:         tcp.conv
// CHECK:         return
func.func @on_2d_f64_f64_f64(%a: tensor<2x3x7x8xf64>, %b: tensor<4x3x3x2xf64>) -> (tensor<2x4x5x7xf64>) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {}
    {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x3x7x8xf64>, tensor<4x3x3x2xf64>) -> tensor<2x4x5x7xf64>
  return %0 : tensor<2x4x5x7xf64>
}

// CHECK-LABEL: func.func @on_2d_bf16_bf16_bf16(
// CHECK:         tcp.conv
// CHECK:         return
func.func @on_2d_bf16_bf16_bf16(%a: tensor<2x3x7x8xbf16>, %b: tensor<4x3x3x2xbf16>) -> (tensor<2x4x5x7xbf16>) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {}
    {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x3x7x8xbf16>, tensor<4x3x3x2xbf16>) -> tensor<2x4x5x7xbf16>
  return %0 : tensor<2x4x5x7xbf16>
}

// CHECK-LABEL: func.func @on_2d_bf16_bf16_f32(
// CHECK:         tcp.cast
// CHECK:         tcp.cast
// CHECK:         tcp.conv
// CHECK:         return
func.func @on_2d_bf16_bf16_f32(%a: tensor<2x3x7x8xbf16>, %b: tensor<4x3x3x2xbf16>) -> (tensor<2x4x5x7xf32>) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {}
    {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x3x7x8xbf16>, tensor<4x3x3x2xbf16>) -> tensor<2x4x5x7xf32>
  return %0 : tensor<2x4x5x7xf32>
}

// CHECK-LABEL: func.func @on_2d_i8_i8_i32(
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Signed>, out_int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Signed>, out_int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.conv
// CHECK:         return
func.func @on_2d_i8_i8_i32(%a: tensor<2x3x7x8xi8>, %b: tensor<4x3x3x2xi8>) -> (tensor<2x4x5x7xi32>) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {}
    {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x3x7x8xi8>, tensor<4x3x3x2xi8>) -> tensor<2x4x5x7xi32>
  return %0 : tensor<2x4x5x7xi32>
}

// CHECK-LABEL: func.func @on_2d_ui8_ui8_ui32(
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Unsigned>, out_int_signedness = #tcp<signedness Unsigned>}
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Unsigned>, out_int_signedness = #tcp<signedness Unsigned>}
// CHECK:         tcp.conv
// CHECK:         return
func.func @on_2d_ui8_ui8_ui32(%a: tensor<2x3x7x8xui8>, %b: tensor<4x3x3x2xui8>) -> (tensor<2x4x5x7xui32>) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {}
    {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x3x7x8xui8>, tensor<4x3x3x2xui8>) -> tensor<2x4x5x7xui32>
  return %0 : tensor<2x4x5x7xui32>
}

// CHECK-LABEL: func.func @jax_layout_f32_f32_f32(
// CHECK:         tcp.transpose {{.*}} {permutation = [0, 3, 1, 2]}
// CHECK:         tcp.transpose {{.*}} {permutation = [3, 2, 0, 1]}
// CHECK:         tcp.conv
// CHECK:         tcp.transpose {{.*}} {permutation = [0, 2, 3, 1]}
// CHECK:         return
func.func @jax_layout_f32_f32_f32(%a: tensor<2x7x8x3xf32>, %b: tensor<3x2x3x4xf32>) -> (tensor<2x4x5x4xf32>) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[1, 1], [0, 3]]}
    {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x7x8x3xf32>, tensor<3x2x3x4xf32>) -> tensor<2x4x5x4xf32>
  return %0 : tensor<2x4x5x4xf32>
}

// CHECK-LABEL: func.func @dilated_f32_f32_f32(
// CHECK:         tcp.conv
// CHECK:         return
func.func @dilated_f32_f32_f32(%a: tensor<1x2x9x9xf32>, %b: tensor<3x2x3x3xf32>) -> (tensor<1x3x5x7xf32>) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {rhs_dilate = [2, 1]}
    {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x2x9x9xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x5x7xf32>
  return %0 : tensor<1x3x5x7xf32>
}

// CHECK-LABEL: func.func @groups_f32_f32_f32(
// CHECK:         tcp.conv
// CHECK:         return
func.func @groups_f32_f32_f32(%a: tensor<2x4x5x5xf32>, %b: tensor<6x2x3x3xf32>) -> (tensor<2x6x3x3xf32>) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {}
    {feature_group_count = 2 : i64, batch_group_count = 1 : i64} : (tensor<2x4x5x5xf32>, tensor<6x2x3x3xf32>) -> tensor<2x6x3x3xf32>
  return %0 : tensor<2x6x3x3xf32>
}

// CHECK-LABEL: func.func @depthwise_f32_f32_f32(
// CHECK:         tcp.transpose {{.*}} {permutation = [0, 3, 1, 2]}
// CHECK:         tcp.transpose {{.*}} {permutation = [3, 2, 0, 1]}
// CHECK:         tcp.conv
// CHECK:         tcp.transpose {{.*}} {permutation = [0, 2, 3, 1]}
// CHECK:         return
func.func @depthwise_f32_f32_f32(%a: tensor<2x5x5x4xf32>, %b: tensor<3x3x1x8xf32>) -> (tensor<2x3x3x8xf32>) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
    {feature_group_count = 4 : i64, batch_group_count = 1 : i64} : (tensor<2x5x5x4xf32>, tensor<3x3x1x8xf32>) -> tensor<2x3x3x8xf32>
  return %0 : tensor<2x3x3x8xf32>
}

// CHECK-LABEL: func.func @batch_groups_f32_f32_f32(
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1], [2], [3], [4]]
// CHECK:         tcp.transpose {{.*}} {permutation = [1, 0, 2, 3, 4]}
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0], [1, 2], [3], [4]]
// CHECK:         tcp.conv
// CHECK:         return
func.func @batch_groups_f32_f32_f32(%a: tensor<6x4x5x5xf32>, %b: tensor<4x4x3x3xf32>) -> (tensor<3x4x3x3xf32>) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {}
    {feature_group_count = 1 : i64, batch_group_count = 2 : i64} : (tensor<6x4x5x5xf32>, tensor<4x4x3x3xf32>) -> tensor<3x4x3x3xf32>
  return %0 : tensor<3x4x3x3xf32>
}

// CHECK-LABEL: func.func @negative_padding_f32_f32_f32(
// CHECK:         tcp.slice
// CHECK:         tcp.conv
// CHECK:         return
func.func @negative_padding_f32_f32_f32(%a: tensor<1x2x9x9xf32>, %b: tensor<3x2x3x3xf32>) -> (tensor<1x3x6x7xf32>) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[-1, 0], [-2, 2]]}
    {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x2x9x9xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x6x7xf32>
  return %0 : tensor<1x3x6x7xf32>
}

// CHECK-LABEL: func.func @reversed_f32_f32_f32(
// CHECK:         tcp.reverse {{.*}} {axes = [2]}
// CHECK:         tcp.conv
// CHECK:         return
func.func @reversed_f32_f32_f32(%a: tensor<1x2x5x5xf32>, %b: tensor<3x2x3x3xf32>) -> (tensor<1x3x3x3xf32>) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {reverse = [true, false]}
    {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x3x3xf32>
  return %0 : tensor<1x3x3x3xf32>
}

// CHECK-LABEL: func.func @transposed_f32_f32_f32(
// CHECK:         tcp.reverse {{.*}} {axes = [2, 3]}
// CHECK:         tcp.transpose {{.*}} {permutation = [1, 0, 2, 3]}
// CHECK:         tcp.conv_transpose
// CHECK:         return
func.func @transposed_f32_f32_f32(%a: tensor<2x3x4x5xf32>, %b: tensor<4x3x3x3xf32>) -> (tensor<2x4x9x11xf32>) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[2, 2], [2, 2]], lhs_dilate = [2, 2]}
    {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x3x4x5xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x9x11xf32>
  return %0 : tensor<2x4x9x11xf32>
}

// CHECK-LABEL: func.func @transposed_groups_f32_f32_f32(
// CHECK:         tcp.reverse {{.*}} {axes = [2, 3]}
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1], [2], [3], [4]]
// CHECK:         tcp.transpose {{.*}} {permutation = [0, 2, 1, 3, 4]}
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1], [2], [3], [4]]
// CHECK:         tcp.conv_transpose
// CHECK:         return
func.func @transposed_groups_f32_f32_f32(%a: tensor<2x4x4x4xf32>, %b: tensor<6x2x3x3xf32>) -> (tensor<2x6x7x7xf32>) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]], lhs_dilate = [2, 2]}
    {feature_group_count = 2 : i64, batch_group_count = 1 : i64} : (tensor<2x4x4x4xf32>, tensor<6x2x3x3xf32>) -> tensor<2x6x7x7xf32>
  return %0 : tensor<2x6x7x7xf32>
}

// CHECK-LABEL: func.func @transposed_wide_f32_f32_f32(
// CHECK:         tcp.reverse {{.*}} {axes = [2, 3]}
// CHECK:         tcp.transpose {{.*}} {permutation = [1, 0, 2, 3]}
// CHECK:         tcp.conv_transpose
// CHECK:         tcp.const
// CHECK:         tcp.pad
// CHECK:         return
func.func @transposed_wide_f32_f32_f32(%a: tensor<1x2x3x3xf32>, %b: tensor<3x2x2x2xf32>) -> (tensor<1x3x8x4xf32>) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[2, 2], [0, 0]], lhs_dilate = [2, 2]}
    {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x2x3x3xf32>, tensor<3x2x2x2xf32>) -> tensor<1x3x8x4xf32>
  return %0 : tensor<1x3x8x4xf32>
}

// CHECK-LABEL: func.func @transposed_cut_f32_f32_f32(
// CHECK:         tcp.reverse {{.*}} {axes = [2, 3]}
// CHECK:         tcp.transpose {{.*}} {permutation = [1, 0, 2, 3]}
// CHECK:         tcp.conv_transpose
// CHECK:         return
func.func @transposed_cut_f32_f32_f32(%a: tensor<1x2x4x4xf32>, %b: tensor<3x2x2x3xf32>) -> (tensor<1x3x4x8xf32>) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[-1, -1], [0, 0]], lhs_dilate = [2, 3]}
    {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<3x2x2x3xf32>) -> tensor<1x3x4x8xf32>
  return %0 : tensor<1x3x4x8xf32>
}

// CHECK-LABEL: func.func @transposed_strides_f32_f32_f32(
// CHECK:         tcp.reverse {{.*}} {axes = [2, 3]}
// CHECK:         tcp.transpose {{.*}} {permutation = [1, 0, 2, 3]}
// CHECK:         tcp.conv_transpose
// CHECK:         tcp.slice
// CHECK:         return
func.func @transposed_strides_f32_f32_f32(%a: tensor<1x2x4x4xf32>, %b: tensor<3x2x3x3xf32>) -> (tensor<1x3x3x6xf32>) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [3, 2], pad = [[1, 2], [2, 3]], lhs_dilate = [2, 3], rhs_dilate = [1, 2]}
    {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x3x6xf32>
  return %0 : tensor<1x3x3x6xf32>
}

// CHECK-LABEL: func.func @no_batch_f32_f32_f32(
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0, 1, 2, 3]}
// CHECK:         return
func.func @no_batch_f32_f32_f32(%a: tensor<0x3x7x8xf32>, %b: tensor<4x3x3x2xf32>) -> (tensor<0x4x5x7xf32>) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {}
    {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<0x3x7x8xf32>, tensor<4x3x3x2xf32>) -> tensor<0x4x5x7xf32>
  return %0 : tensor<0x4x5x7xf32>
}

// CHECK-LABEL: func.func @no_windows_f32_f32_f32(
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0, 1, 2, 3]}
// CHECK:         return
func.func @no_windows_f32_f32_f32(%a: tensor<2x3x2x8xf32>, %b: tensor<4x3x3x2xf32>) -> (tensor<2x4x0x7xf32>) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {}
    {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<2x3x2x8xf32>, tensor<4x3x3x2xf32>) -> tensor<2x4x0x7xf32>
  return %0 : tensor<2x4x0x7xf32>
}

// CHECK-LABEL: func.func @images_f32_f32_f32(
// CHECK:         tcp.conv
// CHECK:         return
func.func @images_f32_f32_f32(%a: tensor<?x3x?x8xf32>, %b: tensor<4x3x1x2xf32>) -> (tensor<?x4x?x7xf32>) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {}
    {feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<?x3x?x8xf32>, tensor<4x3x1x2xf32>) -> tensor<?x4x?x7xf32>
  return %0 : tensor<?x4x?x7xf32>
}
