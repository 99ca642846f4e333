// RUN: tcp-opt %s -split-input-file -verify-diagnostics

func.func @conv_input_type(%arg0: tensor<1x6x8xindex>, %arg1: tensor<4x3x3xf32>) {
  // expected-error @below {{'tcp.conv' op operand #0 must be ranked tensor of floating-point or signless integer values, but got 'tensor<1x6x8xindex>'}}
  %0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 2 : i64, padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xindex>, tensor<4x3x3xf32> -> tensor<1x4x4xf32>
  return
}

// -----

func.func @conv_weight_type(%arg0: tensor<1x6x8xf32>, %arg1: tensor<4x3x3xindex>) {
  // expected-error @below {{'tcp.conv' op operand #1 must be ranked tensor of floating-point or signless integer values, but got 'tensor<4x3x3xindex>'}}
  %0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 2 : i64, padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xindex> -> tensor<1x4x4xf32>
  return
}

// -----

func.func @conv_result_type(%arg0: tensor<1x6x8xf32>, %arg1: tensor<4x3x3xf32>) {
  // expected-error @below {{'tcp.conv' op result #0 must be ranked tensor of floating-point or signless integer values, but got 'tensor<1x4x4xindex>'}}
  %0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 2 : i64, padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xindex>
  return
}

// -----

func.func @conv_without_strides(%arg0: tensor<1x6x8xf32>, %arg1: tensor<4x3x3xf32>) {
  // expected-error @below {{'tcp.conv' op requires attribute 'strides'}}
  %0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 2 : i64, padding_high = [1], padding_low = [1]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf32>
  return
}

// -----

func.func @conv_strides_type(%arg0: tensor<1x6x8xf32>, %arg1: tensor<4x3x3xf32>) {
  // expected-error @below {{'tcp.conv' op attribute 'strides' failed to satisfy constraint: 64-bit integer array attribute}}
  %0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 2 : i64, padding_high = [1], padding_low = [1], strides = array<i64: 1>} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf32>
  return
}

// -----

func.func @conv_without_dilations(%arg0: tensor<1x6x8xf32>, %arg1: tensor<4x3x3xf32>) {
  // expected-error @below {{'tcp.conv' op requires attribute 'dilations'}}
  %0 = tcp.conv %arg0, %arg1 {groups = 2 : i64, padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf32>
  return
}

// -----

func.func @conv_dilations_type(%arg0: tensor<1x6x8xf32>, %arg1: tensor<4x3x3xf32>) {
  // expected-error @below {{'tcp.conv' op attribute 'dilations' failed to satisfy constraint: 64-bit integer array attribute}}
  %0 = tcp.conv %arg0, %arg1 {dilations = array<i64: 1>, groups = 2 : i64, padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf32>
  return
}

// -----

func.func @conv_without_padding_low(%arg0: tensor<1x6x8xf32>, %arg1: tensor<4x3x3xf32>) {
  // expected-error @below {{'tcp.conv' op requires attribute 'padding_low'}}
  %0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 2 : i64, padding_high = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf32>
  return
}

// -----

func.func @conv_padding_low_type(%arg0: tensor<1x6x8xf32>, %arg1: tensor<4x3x3xf32>) {
  // expected-error @below {{'tcp.conv' op attribute 'padding_low' failed to satisfy constraint: 64-bit integer array attribute}}
  %0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 2 : i64, padding_high = [1], padding_low = array<i64: 1>, strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf32>
  return
}

// -----

func.func @conv_without_padding_high(%arg0: tensor<1x6x8xf32>, %arg1: tensor<4x3x3xf32>) {
  // expected-error @below {{'tcp.conv' op requires attribute 'padding_high'}}
  %0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 2 : i64, padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf32>
  return
}

// -----

func.func @conv_padding_high_type(%arg0: tensor<1x6x8xf32>, %arg1: tensor<4x3x3xf32>) {
  // expected-error @below {{'tcp.conv' op attribute 'padding_high' failed to satisfy constraint: 64-bit integer array attribute}}
  %0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 2 : i64, padding_high = array<i64: 1>, padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf32>
  return
}

// -----

func.func @conv_without_groups(%arg0: tensor<1x6x8xf32>, %arg1: tensor<4x3x3xf32>) {
  // expected-error @below {{'tcp.conv' op requires attribute 'groups'}}
  %0 = tcp.conv %arg0, %arg1 {dilations = [1], padding_high = [1], padding_low = [1], strides = [1]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x2x2xf32>
  return
}

// -----

func.func @conv_groups_type(%arg0: tensor<1x6x8xf32>, %arg1: tensor<4x3x3xf32>) {
  // expected-error @below {{'tcp.conv' op attribute 'groups' failed to satisfy constraint: 64-bit signless integer attribute}}
  %0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 1 : i32, padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf32>
  return
}

// -----

func.func @conv_result_size(%arg0: tensor<1x6x8xf32>, %arg1: tensor<4x3x3xf32>) {
  // expected-error @below {{'tcp.conv' op requires a result of shape 1x4x4, but got 1x4x5}}
  %0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 2 : i64, padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x5xf32>
  return
}

// -----

func.func @conv_result_channels(%arg0: tensor<1x6x8xf32>, %arg1: tensor<4x3x3xf32>) {
  // expected-error @below {{'tcp.conv' op requires a result of shape 1x4x4, but got 1x6x4}}
  %0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 2 : i64, padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x6x4xf32>
  return
}

// -----

func.func @conv_result_element_type(%arg0: tensor<1x6x8xf32>, %arg1: tensor<4x3x3xf32>) {
  // expected-error @below {{'tcp.conv' op requires the same element type throughout, but got 'f32' and 'f64'}}
  %0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 2 : i64, padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf64>
  return
}

// -----

func.func @conv_result_rank(%arg0: tensor<1x6x8xf32>, %arg1: tensor<4x3x3xf32>) {
  // expected-error @below {{'tcp.conv' op requires a result of rank 3, but got rank 2}}
  %0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 2 : i64, padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4xf32>
  return
}

// -----

func.func @conv_weight_element_type(%arg0: tensor<1x6x8xf32>, %arg1: tensor<8x3x3x3xf16>) {
  // expected-error @below {{'tcp.conv' op requires the same element type throughout, but got 'f32' and 'f16'}}
  %0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 2 : i64, padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<8x3x3x3xf16> -> tensor<1x4x4xf32>
  return
}

// -----

func.func @conv_strides_too_small(%arg0: tensor<1x6x8xf32>, %arg1: tensor<4x3x3xf32>) {
  // expected-error @below {{'tcp.conv' op requires 'strides' of 1 or more, but got [0]}}
  %0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 2 : i64, padding_high = [1], padding_low = [1], strides = [0]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf32>
  return
}

// -----

func.func @conv_strides_count(%arg0: tensor<1x6x8xf32>, %arg1: tensor<4x3x3xf32>) {
  // expected-error @below {{'tcp.conv' op requires 1 entries of 'strides', one for each spatial dimension, but got 2}}
  %0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 2 : i64, padding_high = [1], padding_low = [1], strides = [1, 1]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf32>
  return
}

// -----

func.func @conv_dilations_too_small(%arg0: tensor<1x6x8xf32>, %arg1: tensor<4x3x3xf32>) {
  // expected-error @below {{'tcp.conv' op requires 'dilations' of 1 or more, but got [0]}}
  %0 = tcp.conv %arg0, %arg1 {dilations = [0], groups = 2 : i64, padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf32>
  return
}

// -----

func.func @conv_dilations_count(%arg0: tensor<1x6x8xf32>, %arg1: tensor<4x3x3xf32>) {
  // expected-error @below {{'tcp.conv' op requires 1 entries of 'dilations', one for each spatial dimension, but got 0}}
  %0 = tcp.conv %arg0, %arg1 {dilations = [], groups = 2 : i64, padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf32>
  return
}

// -----

func.func @conv_padding_low_too_small(%arg0: tensor<1x6x8xf32>, %arg1: tensor<4x3x3xf32>) {
  // expected-error @below {{'tcp.conv' op requires 'padding_low' of 0 or more, but got [-1]}}
  %0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 2 : i64, padding_high = [1], padding_low = [-1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf32>
  return
}

// -----

func.func @conv_padding_low_count(%arg0: tensor<1x6x8xf32>, %arg1: tensor<4x3x3xf32>) {
  // expected-error @below {{'tcp.conv' op requires 1 entries of 'padding_low', one for each spatial dimension, but got 0}}
  %0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 2 : i64, padding_high = [1], padding_low = [], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf32>
  return
}

// -----

func.func @conv_padding_high_too_small(%arg0: tensor<1x6x8xf32>, %arg1: tensor<4x3x3xf32>) {
  // expected-error @below {{'tcp.conv' op requires 'padding_high' of 0 or more, but got [-1]}}
  %0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 2 : i64, padding_high = [-1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf32>
  return
}

// -----

func.func @conv_padding_high_count(%arg0: tensor<1x6x8xf32>, %arg1: tensor<4x3x3xf32>) {
  // expected-error @below {{'tcp.conv' op requires 1 entries of 'padding_high', one for each spatial dimension, but got 2}}
  %0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 2 : i64, padding_high = [1, 1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf32>
  return
}

// -----

func.func @conv_groups_too_small(%arg0: tensor<1x6x8xf32>, %arg1: tensor<4x3x3xf32>) {
  // expected-error @below {{'tcp.conv' op requires 'groups' of 1 or more, but got [0]}}
  %0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 0 : i64, padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf32>
  return
}

// -----

func.func @conv_output_channels(%arg0: tensor<1x6x8xf32>, %arg1: tensor<4x3x3xf32>) {
  // expected-error @below {{'tcp.conv' op requires output channels in 'groups' of equal size, but got 4 in 3}}
  %0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 3 : i64, padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf32>
  return
}

// -----

func.func @conv_input_channels(%arg0: tensor<1x6x8xf32>, %arg1: tensor<4x3x3xf32>) {
  // expected-error @below {{'tcp.conv' op requires input channels in 'groups' of equal size, but got 6 in 4}}
  %0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 4 : i64, padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf32>
  return
}

// -----

func.func @conv_weight_shape(%arg0: tensor<1x6x8xf32>, %arg1: tensor<4x3x3xf32>) {
  // expected-error @below {{'tcp.conv' op requires a weight of shape 4x6x3, but got 4x3x3}}
  %0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 1 : i64, padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf32>
  return
}

// -----

// Three elements, five apart.
func.func @conv_window_too_large(%arg0: tensor<1x6x8xf32>, %arg1: tensor<4x3x3xf32>) {
  // expected-error @below {{'tcp.conv' op requires a window within the padded input, but got 11 of 10 elements along spatial axis 0}}
  %0 = tcp.conv %arg0, %arg1 {dilations = [5], groups = 2 : i64, padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf32>
  return
}

// -----

func.func @conv_input_rank() {
  %1 = tcp.const {value = dense<0.0> : tensor<2x2xf32>} : tensor<2x2xf32>
  // expected-error @below {{'tcp.conv' op requires an input of one to three spatial dimensions, but got rank 2}}
  %0 = tcp.conv %1, %1 {dilations = [], groups = 1, padding_high = [], padding_low = [], strides = []} : tensor<2x2xf32>, tensor<2x2xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @conv_weight_rank(%arg0: tensor<1x6x8xf32>) {
  %1 = tcp.const {value = dense<0.0> : tensor<2x2xf32>} : tensor<2x2xf32>
  // expected-error @below {{'tcp.conv' op requires a weight of rank 3, but got rank 2}}
  %0 = tcp.conv %arg0, %1 {dilations = [1], groups = 1, padding_high = [1], padding_low = [1], strides = [1]} : tensor<1x6x8xf32>, tensor<2x2xf32> -> tensor<1x2x2xf32>
  return
}

// -----

func.func @conv_transpose_input_type(%arg0: tensor<1x6x8xindex>, %arg1: tensor<6x2x3xf32>) {
  // expected-error @below {{'tcp.conv_transpose' op operand #0 must be ranked tensor of floating-point or signless integer values, but got 'tensor<1x6x8xindex>'}}
  %0 = tcp.conv_transpose %arg0, %arg1 {dilations = [1], groups = 2 : i64, output_padding = [1], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xindex>, tensor<6x2x3xf32> -> tensor<1x4x16xf32>
  return
}

// -----

func.func @conv_transpose_weight_type(%arg0: tensor<1x6x8xf32>, %arg1: tensor<6x2x3xindex>) {
  // expected-error @below {{'tcp.conv_transpose' op operand #1 must be ranked tensor of floating-point or signless integer values, but got 'tensor<6x2x3xindex>'}}
  %0 = tcp.conv_transpose %arg0, %arg1 {dilations = [1], groups = 2 : i64, output_padding = [1], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<6x2x3xindex> -> tensor<1x4x16xf32>
  return
}

// -----

func.func @conv_transpose_result_type(%arg0: tensor<1x6x8xf32>, %arg1: tensor<6x2x3xf32>) {
  // expected-error @below {{'tcp.conv_transpose' op result #0 must be ranked tensor of floating-point or signless integer values, but got 'tensor<1x4x16xindex>'}}
  %0 = tcp.conv_transpose %arg0, %arg1 {dilations = [1], groups = 2 : i64, output_padding = [1], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<6x2x3xf32> -> tensor<1x4x16xindex>
  return
}

// -----

func.func @conv_transpose_without_strides(%arg0: tensor<1x6x8xf32>, %arg1: tensor<6x2x3xf32>) {
  // expected-error @below {{'tcp.conv_transpose' op requires attribute 'strides'}}
  %0 = tcp.conv_transpose %arg0, %arg1 {dilations = [1], groups = 2 : i64, output_padding = [1], padding_high = [1], padding_low = [1]} : tensor<1x6x8xf32>, tensor<6x2x3xf32> -> tensor<1x4x16xf32>
  return
}

// -----

func.func @conv_transpose_strides_type(%arg0: tensor<1x6x8xf32>, %arg1: tensor<6x2x3xf32>) {
  // expected-error @below {{'tcp.conv_transpose' op attribute 'strides' failed to satisfy constraint: 64-bit integer array attribute}}
  %0 = tcp.conv_transpose %arg0, %arg1 {dilations = [1], groups = 2 : i64, output_padding = [1], padding_high = [1], padding_low = [1], strides = array<i64: 1>} : tensor<1x6x8xf32>, tensor<6x2x3xf32> -> tensor<1x4x16xf32>
  return
}

// -----

func.func @conv_transpose_without_dilations(%arg0: tensor<1x6x8xf32>, %arg1: tensor<6x2x3xf32>) {
  // expected-error @below {{'tcp.conv_transpose' op requires attribute 'dilations'}}
  %0 = tcp.conv_transpose %arg0, %arg1 {groups = 2 : i64, output_padding = [1], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<6x2x3xf32> -> tensor<1x4x16xf32>
  return
}

// -----

func.func @conv_transpose_dilations_type(%arg0: tensor<1x6x8xf32>, %arg1: tensor<6x2x3xf32>) {
  // expected-error @below {{'tcp.conv_transpose' op attribute 'dilations' failed to satisfy constraint: 64-bit integer array attribute}}
  %0 = tcp.conv_transpose %arg0, %arg1 {dilations = array<i64: 1>, groups = 2 : i64, output_padding = [1], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<6x2x3xf32> -> tensor<1x4x16xf32>
  return
}

// -----

func.func @conv_transpose_without_padding_low(%arg0: tensor<1x6x8xf32>, %arg1: tensor<6x2x3xf32>) {
  // expected-error @below {{'tcp.conv_transpose' op requires attribute 'padding_low'}}
  %0 = tcp.conv_transpose %arg0, %arg1 {dilations = [1], groups = 2 : i64, output_padding = [1], padding_high = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<6x2x3xf32> -> tensor<1x4x16xf32>
  return
}

// -----

func.func @conv_transpose_padding_low_type(%arg0: tensor<1x6x8xf32>, %arg1: tensor<6x2x3xf32>) {
  // expected-error @below {{'tcp.conv_transpose' op attribute 'padding_low' failed to satisfy constraint: 64-bit integer array attribute}}
  %0 = tcp.conv_transpose %arg0, %arg1 {dilations = [1], groups = 2 : i64, output_padding = [1], padding_high = [1], padding_low = array<i64: 1>, strides = [2]} : tensor<1x6x8xf32>, tensor<6x2x3xf32> -> tensor<1x4x16xf32>
  return
}

// -----

func.func @conv_transpose_without_padding_high(%arg0: tensor<1x6x8xf32>, %arg1: tensor<6x2x3xf32>) {
  // expected-error @below {{'tcp.conv_transpose' op requires attribute 'padding_high'}}
  %0 = tcp.conv_transpose %arg0, %arg1 {dilations = [1], groups = 2 : i64, output_padding = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<6x2x3xf32> -> tensor<1x4x16xf32>
  return
}

// -----

func.func @conv_transpose_padding_high_type(%arg0: tensor<1x6x8xf32>, %arg1: tensor<6x2x3xf32>) {
  // expected-error @below {{'tcp.conv_transpose' op attribute 'padding_high' failed to satisfy constraint: 64-bit integer array attribute}}
  %0 = tcp.conv_transpose %arg0, %arg1 {dilations = [1], groups = 2 : i64, output_padding = [1], padding_high = array<i64: 1>, padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<6x2x3xf32> -> tensor<1x4x16xf32>
  return
}

// -----

func.func @conv_transpose_without_groups(%arg0: tensor<1x6x8xf32>, %arg1: tensor<6x2x3xf32>) {
  // expected-error @below {{'tcp.conv_transpose' op requires attribute 'groups'}}
  %0 = tcp.conv_transpose %arg0, %arg1 {dilations = [1], output_padding = [1], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<6x2x3xf32> -> tensor<1x4x16xf32>
  return
}

// -----

func.func @conv_transpose_groups_type(%arg0: tensor<1x6x8xf32>, %arg1: tensor<6x2x3xf32>) {
  // expected-error @below {{'tcp.conv_transpose' op attribute 'groups' failed to satisfy constraint: 64-bit signless integer attribute}}
  %0 = tcp.conv_transpose %arg0, %arg1 {dilations = [1], groups = 1 : i32, output_padding = [1], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<6x2x3xf32> -> tensor<1x4x16xf32>
  return
}

// -----

func.func @conv_transpose_without_output_padding(%arg0: tensor<1x6x8xf32>, %arg1: tensor<6x2x3xf32>) {
  // expected-error @below {{'tcp.conv_transpose' op requires attribute 'output_padding'}}
  %0 = tcp.conv_transpose %arg0, %arg1 {dilations = [1], groups = 2 : i64, padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<6x2x3xf32> -> tensor<1x4x16xf32>
  return
}

// -----

func.func @conv_transpose_output_padding_type(%arg0: tensor<1x6x8xf32>, %arg1: tensor<6x2x3xf32>) {
  // expected-error @below {{'tcp.conv_transpose' op attribute 'output_padding' failed to satisfy constraint: 64-bit integer array attribute}}
  %0 = tcp.conv_transpose %arg0, %arg1 {dilations = [1], groups = 2 : i64, output_padding = array<i64: 1>, padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<6x2x3xf32> -> tensor<1x4x16xf32>
  return
}

// -----

func.func @conv_transpose_result_size(%arg0: tensor<1x6x8xf32>, %arg1: tensor<6x2x3xf32>) {
  // expected-error @below {{'tcp.conv_transpose' op requires a result of shape 1x4x16, but got 1x4x15}}
  %0 = tcp.conv_transpose %arg0, %arg1 {dilations = [1], groups = 2 : i64, output_padding = [1], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<6x2x3xf32> -> tensor<1x4x15xf32>
  return
}

// -----

func.func @conv_transpose_result_channels(%arg0: tensor<1x6x8xf32>, %arg1: tensor<6x2x3xf32>) {
  // expected-error @below {{'tcp.conv_transpose' op requires a result of shape 1x4x16, but got 1x2x16}}
  %0 = tcp.conv_transpose %arg0, %arg1 {dilations = [1], groups = 2 : i64, output_padding = [1], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<6x2x3xf32> -> tensor<1x2x16xf32>
  return
}

// -----

// Input channels are the first dimension of these weights.
func.func @conv_transpose_weight_shape(%arg0: tensor<1x6x8xf32>, %arg1: tensor<4x3x3xf32>) {
  // expected-error @below {{'tcp.conv_transpose' op requires a weight of shape 6x3x3, but got 4x3x3}}
  %0 = tcp.conv_transpose %arg0, %arg1 {dilations = [1], groups = 2 : i64, output_padding = [1], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x16xf32>
  return
}

// -----

func.func @conv_transpose_input_channels(%arg0: tensor<1x6x8xf32>, %arg1: tensor<6x2x3xf32>) {
  // expected-error @below {{'tcp.conv_transpose' op requires input channels in 'groups' of equal size, but got 6 in 4}}
  %0 = tcp.conv_transpose %arg0, %arg1 {dilations = [1], groups = 4 : i64, output_padding = [1], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<6x2x3xf32> -> tensor<1x4x16xf32>
  return
}

// -----

func.func @conv_transpose_output_padding_too_small(%arg0: tensor<1x6x8xf32>, %arg1: tensor<6x2x3xf32>) {
  // expected-error @below {{'tcp.conv_transpose' op requires 'output_padding' of 0 or more, but got [-1]}}
  %0 = tcp.conv_transpose %arg0, %arg1 {dilations = [1], groups = 2 : i64, output_padding = [-1], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<6x2x3xf32> -> tensor<1x4x16xf32>
  return
}

// -----

func.func @conv_transpose_output_padding_count(%arg0: tensor<1x6x8xf32>, %arg1: tensor<6x2x3xf32>) {
  // expected-error @below {{'tcp.conv_transpose' op requires 1 entries of 'output_padding', one for each spatial dimension, but got 0}}
  %0 = tcp.conv_transpose %arg0, %arg1 {dilations = [1], groups = 2 : i64, output_padding = [], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<6x2x3xf32> -> tensor<1x4x16xf32>
  return
}

// -----

func.func @conv_transpose_element_type(%arg0: tensor<1x6x8xf32>, %arg1: tensor<6x2x3xf16>) {
  // expected-error @below {{'tcp.conv_transpose' op requires the same element type throughout, but got 'f32' and 'f16'}}
  %0 = tcp.conv_transpose %arg0, %arg1 {dilations = [1], groups = 2 : i64, output_padding = [1], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<6x2x3xf16> -> tensor<1x4x16xf32>
  return
}

// -----

func.func @conv_transpose_input_rank(%arg0: tensor<6x8xf32>, %arg1: tensor<6x2xf32>) {
  // expected-error @below {{'tcp.conv_transpose' op requires an input of one to three spatial dimensions, but got rank 2}}
  %0 = tcp.conv_transpose %arg0, %arg1 {dilations = [1], groups = 2 : i64, output_padding = [1], padding_high = [1], padding_low = [1], strides = [2]} : tensor<6x8xf32>, tensor<6x2xf32> -> tensor<4x16xf32>
  return
}

// -----

func.func @conv_transpose_weight_rank(%arg0: tensor<1x6x8xf32>, %arg1: tensor<6x2xf32>) {
  // expected-error @below {{'tcp.conv_transpose' op requires a weight of rank 3, but got rank 2}}
  %0 = tcp.conv_transpose %arg0, %arg1 {dilations = [1], groups = 2 : i64, output_padding = [1], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<6x2xf32> -> tensor<1x4x16xf32>
  return
}

// -----

func.func @conv_transpose_result_rank(%arg0: tensor<1x6x8xf32>, %arg1: tensor<6x2x3xf32>) {
  // expected-error @below {{'tcp.conv_transpose' op requires a result of rank 3, but got rank 2}}
  %0 = tcp.conv_transpose %arg0, %arg1 {dilations = [1], groups = 2 : i64, output_padding = [1], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<6x2x3xf32> -> tensor<4x16xf32>
  return
}

// -----

func.func @conv_transpose_groups_too_small(%arg0: tensor<1x6x8xf32>, %arg1: tensor<6x2x3xf32>) {
  // expected-error @below {{'tcp.conv_transpose' op requires 'groups' of 1 or more, but got [0]}}
  %0 = tcp.conv_transpose %arg0, %arg1 {dilations = [1], groups = 0 : i64, output_padding = [1], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<6x2x3xf32> -> tensor<1x4x16xf32>
  return
}

// -----

func.func @conv_transpose_strides_too_small(%arg0: tensor<1x6x8xf32>, %arg1: tensor<6x2x3xf32>) {
  // expected-error @below {{'tcp.conv_transpose' op requires 'strides' of 1 or more, but got [0]}}
  %0 = tcp.conv_transpose %arg0, %arg1 {dilations = [1], groups = 2 : i64, output_padding = [1], padding_high = [1], padding_low = [1], strides = [0]} : tensor<1x6x8xf32>, tensor<6x2x3xf32> -> tensor<1x4x16xf32>
  return
}

// -----

func.func @conv_transpose_dilations_count(%arg0: tensor<1x6x8xf32>, %arg1: tensor<6x2x3xf32>) {
  // expected-error @below {{'tcp.conv_transpose' op requires 1 entries of 'dilations', one for each spatial dimension, but got 2}}
  %0 = tcp.conv_transpose %arg0, %arg1 {dilations = [1, 1], groups = 2 : i64, output_padding = [1], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<6x2x3xf32> -> tensor<1x4x16xf32>
  return
}
