// RUN: tcp-opt %s -convert-stablehlo-to-tcp | FileCheck %s

// CHECK-LABEL: func.func @nchw_add_f32(
// CHECK:         tcp.pool {{.*}} {accumulation_type = f64, combiner = #tcp<combiner sum>, dilations = [1, 1], kernel = [2, 3], padding_high = [0, 0], padding_low = [0, 0], strides = [1, 1]}
// CHECK:         return
func.func @nchw_add_f32(%x: tensor<2x3x5x6xf32>) -> (tensor<2x3x4x4xf32>) {
  %i = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 1, 1, 2, 3>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<2x3x5x6xf32>, tensor<f32>) -> tensor<2x3x4x4xf32>
  return %0 : tensor<2x3x4x4xf32>
}

// CHECK-LABEL: func.func @nchw_maximum_f32(
// CHECK:         tcp.pool {{.*}} {combiner = #tcp<combiner max>, dilations = [1, 1], kernel = [2, 3], padding_high = [0, 0], padding_low = [0, 0], strides = [1, 1]}
// CHECK:         return
func.func @nchw_maximum_f32(%x: tensor<2x3x5x6xf32>) -> (tensor<2x3x4x4xf32>) {
  %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 1, 1, 2, 3>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<2x3x5x6xf32>, tensor<f32>) -> tensor<2x3x4x4xf32>
  return %0 : tensor<2x3x4x4xf32>
}

// CHECK-LABEL: func.func @nhwc_maximum_f32(
// CHECK:         tcp.transpose {{.*}} {permutation = [0, 3, 1, 2]}
// CHECK:         tcp.pool {{.*}} {combiner = #tcp<combiner max>, dilations = [1, 1], kernel = [3, 2], padding_high = [0, 0], padding_low = [0, 0], strides = [2, 1]}
// CHECK:         tcp.transpose {{.*}} {permutation = [0, 2, 3, 1]}
// CHECK:         return
func.func @nhwc_maximum_f32(%x: tensor<2x5x6x3xf32>) -> (tensor<2x2x5x3xf32>) {
  %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 1, 3, 2, 1>, window_strides = array<i64: 1, 2, 1, 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<2x5x6x3xf32>, tensor<f32>) -> tensor<2x2x5x3xf32>
  return %0 : tensor<2x2x5x3xf32>
}

// CHECK-LABEL: func.func @nhwc_minimum_f32(
// CHECK:         tcp.transpose {{.*}} {permutation = [0, 3, 1, 2]}
// CHECK:         tcp.pool {{.*}} {combiner = #tcp<combiner min>, dilations = [1, 1], kernel = [3, 2], padding_high = [0, 0], padding_low = [0, 0], strides = [2, 1]}
// CHECK:         tcp.transpose {{.*}} {permutation = [0, 2, 3, 1]}
// CHECK:         return
func.func @nhwc_minimum_f32(%x: tensor<2x5x6x3xf32>) -> (tensor<2x2x5x3xf32>) {
  %i = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 1, 3, 2, 1>, window_strides = array<i64: 1, 2, 1, 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.minimum %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<2x5x6x3xf32>, tensor<f32>) -> tensor<2x2x5x3xf32>
  return %0 : tensor<2x2x5x3xf32>
}

// CHECK-LABEL: func.func @padded_add_f32(
// CHECK:         tcp.pool {{.*}} {accumulation_type = f64, combiner = #tcp<combiner sum>, dilations = [1, 1], kernel = [2, 3], padding_high = [0, 1], padding_low = [1, 2], strides = [1, 1]}
// CHECK:         return
func.func @padded_add_f32(%x: tensor<2x3x5x6xf32>) -> (tensor<2x3x5x7xf32>) {
  %i = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 1, 1, 2, 3>, padding = dense<[[0, 0], [0, 0], [1, 0], [2, 1]]> : tensor<4x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<2x3x5x6xf32>, tensor<f32>) -> tensor<2x3x5x7xf32>
  return %0 : tensor<2x3x5x7xf32>
}

// CHECK-LABEL: func.func @padded_maximum_f32(
// CHECK:         tcp.pool {{.*}} {combiner = #tcp<combiner max>, dilations = [1, 1], kernel = [2, 3], padding_high = [0, 1], padding_low = [1, 2], strides = [1, 1]}
// CHECK:         return
func.func @padded_maximum_f32(%x: tensor<2x3x5x6xf32>) -> (tensor<2x3x5x7xf32>) {
  %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 1, 1, 2, 3>, padding = dense<[[0, 0], [0, 0], [1, 0], [2, 1]]> : tensor<4x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<2x3x5x6xf32>, tensor<f32>) -> tensor<2x3x5x7xf32>
  return %0 : tensor<2x3x5x7xf32>
}

// CHECK-LABEL: func.func @padded_from_2_add_f32(
// CHECK:         tcp.const
// CHECK:         tcp.pad
// CHECK:         tcp.pool {{.*}} {accumulation_type = f64, combiner = #tcp<combiner sum>, dilations = [1, 1], kernel = [2, 3], padding_high = [0, 0], padding_low = [0, 0], strides = [1, 1]}
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0, 1, 2, 3]}
// CHECK:         tcp.add
// CHECK:         return
func.func @padded_from_2_add_f32(%x: tensor<2x3x5x6xf32>) -> (tensor<2x3x5x7xf32>) {
  %i = stablehlo.constant dense<2.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 1, 1, 2, 3>, padding = dense<[[0, 0], [0, 0], [1, 0], [2, 1]]> : tensor<4x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<2x3x5x6xf32>, tensor<f32>) -> tensor<2x3x5x7xf32>
  return %0 : tensor<2x3x5x7xf32>
}

// CHECK-LABEL: func.func @padded_from_0_maximum_f32(
// CHECK:         tcp.const
// CHECK:         tcp.pad
// CHECK:         tcp.pool {{.*}} {combiner = #tcp<combiner max>, dilations = [1, 1], kernel = [2, 3], padding_high = [0, 0], padding_low = [0, 0], strides = [1, 1]}
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0, 1, 2, 3]}
// CHECK:         tcp.maximum
// CHECK:         return
func.func @padded_from_0_maximum_f32(%x: tensor<2x3x5x6xf32>) -> (tensor<2x3x5x7xf32>) {
  %i = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 1, 1, 2, 3>, padding = dense<[[0, 0], [0, 0], [1, 0], [2, 1]]> : tensor<4x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<2x3x5x6xf32>, tensor<f32>) -> tensor<2x3x5x7xf32>
  return %0 : tensor<2x3x5x7xf32>
}

// CHECK-LABEL: func.func @unsigned_maximum_ui8(
// CHECK:         tcp.pool {{.*}} {combiner = #tcp<combiner max>, dilations = [1, 1], int_signedness = #tcp<signedness Unsigned>, kernel = [2, 3], padding_high = [0, 1], padding_low = [1, 2], strides = [1, 1]}
// CHECK:         return
func.func @unsigned_maximum_ui8(%x: tensor<2x3x5x6xui8>) -> (tensor<2x3x5x7xui8>) {
  %i = stablehlo.constant dense<0> : tensor<ui8>
  %0 = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 1, 1, 2, 3>, padding = dense<[[0, 0], [0, 0], [1, 0], [2, 1]]> : tensor<4x2xi64>}> ({
    ^bb0(%a: tensor<ui8>, %b: tensor<ui8>):
      %1 = stablehlo.maximum %a, %b : tensor<ui8>
      stablehlo.return %1 : tensor<ui8>
    }) : (tensor<2x3x5x6xui8>, tensor<ui8>) -> tensor<2x3x5x7xui8>
  return %0 : tensor<2x3x5x7xui8>
}

// CHECK-LABEL: func.func @unsigned_minimum_ui8(
// CHECK:         tcp.pool {{.*}} {combiner = #tcp<combiner min>, dilations = [1, 1], int_signedness = #tcp<signedness Unsigned>, kernel = [2, 3], padding_high = [0, 1], padding_low = [1, 2], strides = [1, 1]}
// CHECK:         return
func.func @unsigned_minimum_ui8(%x: tensor<2x3x5x6xui8>) -> (tensor<2x3x5x7xui8>) {
  %i = stablehlo.constant dense<255> : tensor<ui8>
  %0 = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 1, 1, 2, 3>, padding = dense<[[0, 0], [0, 0], [1, 0], [2, 1]]> : tensor<4x2xi64>}> ({
    ^bb0(%a: tensor<ui8>, %b: tensor<ui8>):
      %1 = stablehlo.minimum %a, %b : tensor<ui8>
      stablehlo.return %1 : tensor<ui8>
    }) : (tensor<2x3x5x6xui8>, tensor<ui8>) -> tensor<2x3x5x7xui8>
  return %0 : tensor<2x3x5x7xui8>
}

// CHECK-LABEL: func.func @signed_maximum_i8(
// CHECK:         tcp.pool {{.*}} {combiner = #tcp<combiner max>, dilations = [1, 1], int_signedness = #tcp<signedness Signed>, kernel = [2, 3], padding_high = [0, 1], padding_low = [1, 2], strides = [1, 1]}
// CHECK:         return
func.func @signed_maximum_i8(%x: tensor<2x3x5x6xi8>) -> (tensor<2x3x5x7xi8>) {
  %i = stablehlo.constant dense<-128> : tensor<i8>
  %0 = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 1, 1, 2, 3>, padding = dense<[[0, 0], [0, 0], [1, 0], [2, 1]]> : tensor<4x2xi64>}> ({
    ^bb0(%a: tensor<i8>, %b: tensor<i8>):
      %1 = stablehlo.maximum %a, %b : tensor<i8>
      stablehlo.return %1 : tensor<i8>
    }) : (tensor<2x3x5x6xi8>, tensor<i8>) -> tensor<2x3x5x7xi8>
  return %0 : tensor<2x3x5x7xi8>
}

// CHECK-LABEL: func.func @narrow_add_bf16(
// CHECK:         tcp.pool {{.*}} {accumulation_type = f32, combiner = #tcp<combiner sum>, dilations = [1, 1], kernel = [2, 3], padding_high = [0, 0], padding_low = [0, 0], strides = [1, 1]}
// CHECK:         return
func.func @narrow_add_bf16(%x: tensor<2x3x5x6xbf16>) -> (tensor<2x3x4x4xbf16>) {
  %i = stablehlo.constant dense<0.0> : tensor<bf16>
  %0 = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 1, 1, 2, 3>}> ({
    ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
      %1 = stablehlo.add %a, %b : tensor<bf16>
      stablehlo.return %1 : tensor<bf16>
    }) : (tensor<2x3x5x6xbf16>, tensor<bf16>) -> tensor<2x3x4x4xbf16>
  return %0 : tensor<2x3x4x4xbf16>
}

// CHECK-LABEL: func.func @booleans_or_i1(
// CHECK:         tcp.pool {{.*}} {combiner = #tcp<combiner or>, dilations = [1, 1], int_signedness = #tcp<signedness Signless>, kernel = [2, 3], padding_high = [0, 0], padding_low = [0, 0], strides = [1, 1]}
// CHECK:         return
func.func @booleans_or_i1(%x: tensor<2x3x5x6xi1>) -> (tensor<2x3x4x4xi1>) {
  %i = stablehlo.constant dense<false> : tensor<i1>
  %0 = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 1, 1, 2, 3>}> ({
    ^bb0(%a: tensor<i1>, %b: tensor<i1>):
      %1 = stablehlo.or %a, %b : tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<2x3x5x6xi1>, tensor<i1>) -> tensor<2x3x4x4xi1>
  return %0 : tensor<2x3x4x4xi1>
}

// CHECK-LABEL: func.func @dilated_add_f32(
// CHECK:         tcp.transpose {{.*}} {permutation = [1, 0]}
// CHECK:         tcp.pool {{.*}} {accumulation_type = f64, combiner = #tcp<combiner sum>, dilations = [2], kernel = [3], padding_high = [0], padding_low = [0], strides = [1]}
// CHECK:         tcp.transpose {{.*}} {permutation = [1, 0]}
// CHECK:         return
func.func @dilated_add_f32(%x: tensor<9x7xf32>) -> (tensor<5x7xf32>) {
  %i = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 3, 1>, window_dilations = array<i64: 2, 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<9x7xf32>, tensor<f32>) -> tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}

// CHECK-LABEL: func.func @spread_add_f32(
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1], [2]]
// CHECK:         tcp.pad
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1], [2]]
// CHECK:         tcp.slice
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0], [1, 2]]
// CHECK:         tcp.pad
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0], [1, 2]]
// CHECK:         tcp.slice
// CHECK:         tcp.pool {{.*}} {accumulation_type = f64, combiner = #tcp<combiner sum>, dilations = [1, 1], kernel = [2, 3], padding_high = [0, 0], padding_low = [0, 0], strides = [1, 3]}
// CHECK:         return
func.func @spread_add_f32(%x: tensor<4x5xf32>) -> (tensor<6x3xf32>) {
  %i = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 1, 3>, base_dilations = array<i64: 2, 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<4x5xf32>, tensor<f32>) -> tensor<6x3xf32>
  return %0 : tensor<6x3xf32>
}

// CHECK-LABEL: func.func @negative_padding_add_f32(
// CHECK:         tcp.slice
// CHECK:         tcp.transpose {{.*}} {permutation = [1, 0]}
// CHECK:         tcp.pool {{.*}} {accumulation_type = f64, combiner = #tcp<combiner sum>, dilations = [1], kernel = [2], padding_high = [0], padding_low = [0], strides = [1]}
// CHECK:         tcp.transpose {{.*}} {permutation = [1, 0]}
// CHECK:         return
func.func @negative_padding_add_f32(%x: tensor<6x5xf32>) -> (tensor<3x5xf32>) {
  %i = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 2, 1>, padding = dense<[[-1, -1], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<6x5xf32>, tensor<f32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// CHECK-LABEL: func.func @of_one_element_add_f32(
// CHECK:         return
func.func @of_one_element_add_f32(%x: tensor<3x4xf32>) -> (tensor<3x4xf32>) {
  %i = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 1, 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @strides_only_add_f32(
// CHECK:         tcp.pool {{.*}} {accumulation_type = f64, combiner = #tcp<combiner sum>, dilations = [1], kernel = [1], padding_high = [0], padding_low = [0], strides = [3]}
// CHECK:         return
func.func @strides_only_add_f32(%x: tensor<3x5xf32>) -> (tensor<3x2xf32>) {
  %i = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 1, 1>, window_strides = array<i64: 1, 3>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @sums_so_far_add_f32(
// CHECK:         tcp.scan
// CHECK:         return
func.func @sums_so_far_add_f32(%x: tensor<3x5xf32>) -> (tensor<3x5xf32>) {
  %i = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 1, 5>, padding = dense<[[0, 0], [4, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// CHECK-LABEL: func.func @sums_from_here_on_add_f32(
// CHECK:         tcp.reverse {{.*}} {axes = [0]}
// CHECK:         tcp.scan
// CHECK:         tcp.reverse {{.*}} {axes = [0]}
// CHECK:         return
func.func @sums_from_here_on_add_f32(%x: tensor<5x3xf32>) -> (tensor<5x3xf32>) {
  %i = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 5, 1>, padding = dense<[[0, 4], [0, 0]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<5x3xf32>, tensor<f32>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}

// CHECK-LABEL: func.func @no_elements_add_f32(
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0, 1, 2, 3]}
// CHECK:         return
func.func @no_elements_add_f32(%x: tensor<0x3x5x6xf32>) -> (tensor<0x3x4x4xf32>) {
  %i = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 1, 1, 2, 3>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<0x3x5x6xf32>, tensor<f32>) -> tensor<0x3x4x4xf32>
  return %0 : tensor<0x3x4x4xf32>
}

// CHECK-LABEL: func.func @no_windows_add_f32(
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [1, 2, 3]}
// CHECK:         return
func.func @no_windows_add_f32(%x: tensor<1x3x1x6xf32>) -> (tensor<1x3x0x4xf32>) {
  %i = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 1, 1, 2, 3>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<1x3x1x6xf32>, tensor<f32>) -> tensor<1x3x0x4xf32>
  return %0 : tensor<1x3x0x4xf32>
}

// CHECK-LABEL: func.func @batch_maximum_f32(
// CHECK:         tcp.pool {{.*}} {combiner = #tcp<combiner max>, dilations = [1, 1], kernel = [2, 3], padding_high = [0, 0], padding_low = [0, 0], strides = [1, 1]}
// CHECK:         return
func.func @batch_maximum_f32(%x: tensor<?x3x5x6xf32>) -> (tensor<?x3x4x4xf32>) {
  %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 1, 1, 2, 3>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<?x3x5x6xf32>, tensor<f32>) -> tensor<?x3x4x4xf32>
  return %0 : tensor<?x3x4x4xf32>
}

// CHECK-LABEL: func.func @channels_last_add_f32(
// CHECK:         tcp.transpose {{.*}} {permutation = [0, 3, 1, 2]}
// CHECK:         tcp.pool {{.*}} {accumulation_type = f64, combiner = #tcp<combiner sum>, dilations = [1, 1], kernel = [3, 2], padding_high = [0, 0], padding_low = [0, 0], strides = [2, 1]}
// CHECK:         tcp.transpose {{.*}} {permutation = [0, 2, 3, 1]}
// CHECK:         return
func.func @channels_last_add_f32(%x: tensor<?x5x6x?xf32>) -> (tensor<?x2x5x?xf32>) {
  %i = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 1, 3, 2, 1>, window_strides = array<i64: 1, 2, 1, 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<?x5x6x?xf32>, tensor<f32>) -> tensor<?x2x5x?xf32>
  return %0 : tensor<?x2x5x?xf32>
}

// What a window is given goes where its first greatest element is.

// CHECK-LABEL: func.func @gradient(
// CHECK:         %[[PLACES:.*]] = tcp.argmax_pool {{.*}} {dilations = [1], kernel = [2], padding_high = [0], padding_low = [0], strides = [2]} : tensor<3x4xf32> -> tensor<3x2xi64>
// CHECK:         tcp.scatter %{{.*}}, %[[PLACES]], %{{.*}} {combiner = #tcp<combiner sum>, dim = 1 : index}
// CHECK:         return
func.func @gradient(%x: tensor<3x4xf32>, %s: tensor<3x2xf32>, %i: tensor<f32>) -> (tensor<3x4xf32>) {
  %0 = "stablehlo.select_and_scatter"(%x, %s, %i) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
  }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
  }) : (tensor<3x4xf32>, tensor<3x2xf32>, tensor<f32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// Channels are padded where they are, last, before windows are put there.

// CHECK-LABEL: func.func @padded_channels_last(
// CHECK:         tcp.pad {{.*}} -> tensor<1x6x5x3xf32>
// CHECK:         tcp.transpose {{.*}} {permutation = [0, 3, 1, 2]}
// CHECK:         tcp.pool {{.*}} padding_high = [0, 0], padding_low = [0, 0]
// CHECK:         return
func.func @padded_channels_last(%x: tensor<1x4x4x3xf32>) -> (tensor<1x5x3x3xf32>) {
  %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 1, 2, 3, 1>, padding = dense<[[0, 0], [1, 1], [1, 0], [0, 0]]> : tensor<4x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<1x4x4x3xf32>, tensor<f32>) -> tensor<1x5x3x3xf32>
  return %0 : tensor<1x5x3x3xf32>
}

// How many elements windows have is known, within their own padding and that around ones.

// CHECK-LABEL: func.func @counts(
// CHECK-NOT:     tcp.pool
// CHECK:         tcp.const {value = dense<{{\[\[}}4.000000e+00, 6.000000e+00, 4.000000e+00], [2.000000e+00, 3.000000e+00, 2.000000e+00]]> : tensor<2x3xf32>}
// CHECK:         return
func.func @counts() -> (tensor<2x3xf32>) {
  %i = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %ones = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<f32>) -> tensor<3x3xf32>
  %padded = stablehlo.pad %ones, %i, low = [0, 1], high = [0, 0], interior = [0, 0] : (tensor<3x3xf32>, tensor<f32>) -> tensor<3x4xf32>
  %0 = "stablehlo.reduce_window"(%padded, %i) <{window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 2, 1>, padding = dense<[[0, 1], [0, 1]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<3x4xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
