// RUN: tcp-opt %s -split-input-file -verify-diagnostics

func.func @pool_operand_type(%arg0: tensor<1x6x8xindex>) {
  // expected-error @below {{'tcp.pool' op operand #0 must be ranked tensor of floating-point or signless integer values, but got 'tensor<1x6x8xindex>'}}
  %0 = tcp.pool %arg0 {combiner = #tcp<combiner max>, dilations = [1], kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xindex> -> tensor<1x6x4xf32>
  return
}

// -----

func.func @pool_result_type(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.pool' op result #0 must be ranked tensor of floating-point or signless integer values, but got 'tensor<1x6x4xindex>'}}
  %0 = tcp.pool %arg0 {combiner = #tcp<combiner max>, dilations = [1], kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xindex>
  return
}

// -----

func.func @pool_without_kernel(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.pool' op requires attribute 'kernel'}}
  %0 = tcp.pool %arg0 {combiner = #tcp<combiner max>, dilations = [1], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xf32>
  return
}

// -----

func.func @pool_kernel_type(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.pool' op attribute 'kernel' failed to satisfy constraint: 64-bit integer array attribute}}
  %0 = tcp.pool %arg0 {combiner = #tcp<combiner max>, dilations = [1], kernel = array<i64: 1>, padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xf32>
  return
}

// -----

func.func @pool_without_strides(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.pool' op requires attribute 'strides'}}
  %0 = tcp.pool %arg0 {combiner = #tcp<combiner max>, dilations = [1], kernel = [3], padding_high = [1], padding_low = [1]} : tensor<1x6x8xf32> -> tensor<1x6x4xf32>
  return
}

// -----

func.func @pool_strides_type(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.pool' op attribute 'strides' failed to satisfy constraint: 64-bit integer array attribute}}
  %0 = tcp.pool %arg0 {combiner = #tcp<combiner max>, dilations = [1], kernel = [3], padding_high = [1], padding_low = [1], strides = array<i64: 1>} : tensor<1x6x8xf32> -> tensor<1x6x4xf32>
  return
}

// -----

func.func @pool_without_dilations(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.pool' op requires attribute 'dilations'}}
  %0 = tcp.pool %arg0 {combiner = #tcp<combiner max>, kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xf32>
  return
}

// -----

func.func @pool_dilations_type(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.pool' op attribute 'dilations' failed to satisfy constraint: 64-bit integer array attribute}}
  %0 = tcp.pool %arg0 {combiner = #tcp<combiner max>, dilations = array<i64: 1>, kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xf32>
  return
}

// -----

func.func @pool_without_padding_low(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.pool' op requires attribute 'padding_low'}}
  %0 = tcp.pool %arg0 {combiner = #tcp<combiner max>, dilations = [1], kernel = [3], padding_high = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xf32>
  return
}

// -----

func.func @pool_padding_low_type(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.pool' op attribute 'padding_low' failed to satisfy constraint: 64-bit integer array attribute}}
  %0 = tcp.pool %arg0 {combiner = #tcp<combiner max>, dilations = [1], kernel = [3], padding_high = [1], padding_low = array<i64: 1>, strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xf32>
  return
}

// -----

func.func @pool_without_padding_high(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.pool' op requires attribute 'padding_high'}}
  %0 = tcp.pool %arg0 {combiner = #tcp<combiner max>, dilations = [1], kernel = [3], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xf32>
  return
}

// -----

func.func @pool_padding_high_type(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.pool' op attribute 'padding_high' failed to satisfy constraint: 64-bit integer array attribute}}
  %0 = tcp.pool %arg0 {combiner = #tcp<combiner max>, dilations = [1], kernel = [3], padding_high = array<i64: 1>, padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xf32>
  return
}

// -----

func.func @pool_int_signedness_type(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.pool' op attribute 'int_signedness' failed to satisfy constraint: signedness attribute, one of Signed, Unsigned, Signless}}
  %0 = tcp.pool %arg0 {combiner = #tcp<combiner max>, dilations = [1], int_signedness = "Signed", kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xf32>
  return
}

// -----

func.func @pool_without_combiner(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.pool' op requires attribute 'combiner'}}
  %0 = tcp.pool %arg0 {dilations = [1], kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xf32>
  return
}

// -----

func.func @pool_combiner_type(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.pool' op attribute 'combiner' failed to satisfy constraint: combiner attribute, one of sum, prod, max, min, and, or, logaddexp}}
  %0 = tcp.pool %arg0 {combiner = "max", dilations = [1], kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xf32>
  return
}

// -----

func.func @pool_accumulation_type_type(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.pool' op attribute 'accumulation_type' failed to satisfy constraint: floating-point or signless integer type attribute}}
  %0 = tcp.pool %arg0 {accumulation_type = index, combiner = #tcp<combiner max>, dilations = [1], kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xf32>
  return
}

// -----

func.func @pool_result_shape(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.pool' op requires a result of shape 1x6x4, but got 1x6x5}}
  %0 = tcp.pool %arg0 {combiner = #tcp<combiner max>, dilations = [1], kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x5xf32>
  return
}

// -----

func.func @pool_element_type(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.pool' op requires the same element type throughout, but got 'f32' and 'f16'}}
  %0 = tcp.pool %arg0 {combiner = #tcp<combiner max>, dilations = [1], kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xf16>
  return
}

// -----

func.func @pool_sum_without_accumulation_type(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.pool' op requires attribute 'accumulation_type' for 'sum'}}
  %0 = tcp.pool %arg0 {combiner = #tcp<combiner sum>, dilations = [1], kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xf32>
  return
}

// -----

func.func @pool_narrow_accumulation_type(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.pool' op requires an 'accumulation_type' that holds 'f32', but got 'f16'}}
  %0 = tcp.pool %arg0 {accumulation_type = f16, combiner = #tcp<combiner sum>, dilations = [1], kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xf32>
  return
}

// -----

func.func @pool_and_of_other_elements(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.pool' op combiner 'and' requires elements of type 'i1', but got 'f32'}}
  %0 = tcp.pool %arg0 {combiner = #tcp<combiner and>, dilations = [1], kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xf32>
  return
}

// -----

func.func @pool_int_signedness_of_float(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.pool' op attribute 'int_signedness' must not be set for the float type 'f32'}}
  %0 = tcp.pool %arg0 {combiner = #tcp<combiner max>, dilations = [1], int_signedness = #tcp<signedness Unsigned>, kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xf32>
  return
}

// -----

func.func @pool_kernel_too_small(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.pool' op requires 'kernel' of 1 or more, but got [0]}}
  %0 = tcp.pool %arg0 {combiner = #tcp<combiner max>, dilations = [1], kernel = [0], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xf32>
  return
}

// -----

func.func @pool_kernel_of_0_dimensions(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.pool' op requires a 'kernel' of 1 to 3 dimensions, but got 0}}
  %0 = tcp.pool %arg0 {combiner = #tcp<combiner max>, dilations = [1], kernel = [], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xf32>
  return
}

// -----

func.func @pool_kernel_of_4_dimensions(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.pool' op requires a 'kernel' of 1 to 3 dimensions, but got 4}}
  %0 = tcp.pool %arg0 {combiner = #tcp<combiner max>, dilations = [1], kernel = [1, 1, 1, 1], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xf32>
  return
}

// -----

func.func @pool_padding_too_large(%arg0: tensor<1x6x?xf32>) {
  // expected-error @below {{'tcp.pool' op requires 'padding_high' of 2147483647 or less, but got [9223372036854775807]}}
  %0 = tcp.pool %arg0 {combiner = #tcp<combiner max>, dilations = [1], kernel = [3], padding_high = [9223372036854775807], padding_low = [1], strides = [1]} : tensor<1x6x?xf32> -> tensor<1x6x?xf32>
  return
}

// -----

func.func @pool_kernel_too_large(%arg0: tensor<1x6x?xf32>) {
  // expected-error @below {{'tcp.pool' op requires 'kernel' of 2147483647 or less, but got [4294967296]}}
  %0 = tcp.pool %arg0 {combiner = #tcp<combiner max>, dilations = [1], kernel = [4294967296], padding_high = [1], padding_low = [1], strides = [1]} : tensor<1x6x?xf32> -> tensor<1x6x?xf32>
  return
}

// -----

func.func @pool_strides_too_small(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.pool' op requires 'strides' of 1 or more, but got [-1]}}
  %0 = tcp.pool %arg0 {combiner = #tcp<combiner max>, dilations = [1], kernel = [3], padding_high = [1], padding_low = [1], strides = [-1]} : tensor<1x6x8xf32> -> tensor<1x6x4xf32>
  return
}

// -----

func.func @pool_window_too_large(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.pool' op requires a window within the padded input, but got 11 of 10 elements along spatial axis 0}}
  %0 = tcp.pool %arg0 {combiner = #tcp<combiner max>, dilations = [1], kernel = [11], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xf32>
  return
}

// -----

func.func @argmax_pool_operand_type(%arg0: tensor<1x6x8xindex>) {
  // expected-error @below {{'tcp.argmax_pool' op operand #0 must be ranked tensor of floating-point or signless integer values, but got 'tensor<1x6x8xindex>'}}
  %0 = tcp.argmax_pool %arg0 {dilations = [1], kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xindex> -> tensor<1x6x4xi64>
  return
}

// -----

func.func @argmax_pool_result_type(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.argmax_pool' op result #0 must be ranked tensor of signless integer values, but got 'tensor<1x6x4xf32>'}}
  %0 = tcp.argmax_pool %arg0 {dilations = [1], kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xf32>
  return
}

// -----

func.func @argmax_pool_without_kernel(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.argmax_pool' op requires attribute 'kernel'}}
  %0 = tcp.argmax_pool %arg0 {dilations = [1], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xi64>
  return
}

// -----

func.func @argmax_pool_kernel_type(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.argmax_pool' op attribute 'kernel' failed to satisfy constraint: 64-bit integer array attribute}}
  %0 = tcp.argmax_pool %arg0 {dilations = [1], kernel = array<i64: 1>, padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xi64>
  return
}

// -----

func.func @argmax_pool_without_strides(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.argmax_pool' op requires attribute 'strides'}}
  %0 = tcp.argmax_pool %arg0 {dilations = [1], kernel = [3], padding_high = [1], padding_low = [1]} : tensor<1x6x8xf32> -> tensor<1x6x4xi64>
  return
}

// -----

func.func @argmax_pool_strides_type(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.argmax_pool' op attribute 'strides' failed to satisfy constraint: 64-bit integer array attribute}}
  %0 = tcp.argmax_pool %arg0 {dilations = [1], kernel = [3], padding_high = [1], padding_low = [1], strides = array<i64: 1>} : tensor<1x6x8xf32> -> tensor<1x6x4xi64>
  return
}

// -----

func.func @argmax_pool_without_dilations(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.argmax_pool' op requires attribute 'dilations'}}
  %0 = tcp.argmax_pool %arg0 {kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xi64>
  return
}

// -----

func.func @argmax_pool_dilations_type(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.argmax_pool' op attribute 'dilations' failed to satisfy constraint: 64-bit integer array attribute}}
  %0 = tcp.argmax_pool %arg0 {dilations = array<i64: 1>, kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xi64>
  return
}

// -----

func.func @argmax_pool_without_padding_low(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.argmax_pool' op requires attribute 'padding_low'}}
  %0 = tcp.argmax_pool %arg0 {dilations = [1], kernel = [3], padding_high = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xi64>
  return
}

// -----

func.func @argmax_pool_padding_low_type(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.argmax_pool' op attribute 'padding_low' failed to satisfy constraint: 64-bit integer array attribute}}
  %0 = tcp.argmax_pool %arg0 {dilations = [1], kernel = [3], padding_high = [1], padding_low = array<i64: 1>, strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xi64>
  return
}

// -----

func.func @argmax_pool_without_padding_high(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.argmax_pool' op requires attribute 'padding_high'}}
  %0 = tcp.argmax_pool %arg0 {dilations = [1], kernel = [3], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xi64>
  return
}

// -----

func.func @argmax_pool_padding_high_type(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.argmax_pool' op attribute 'padding_high' failed to satisfy constraint: 64-bit integer array attribute}}
  %0 = tcp.argmax_pool %arg0 {dilations = [1], kernel = [3], padding_high = array<i64: 1>, padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xi64>
  return
}

// -----

func.func @argmax_pool_int_signedness_type(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.argmax_pool' op attribute 'int_signedness' failed to satisfy constraint: signedness attribute, one of Signed, Unsigned, Signless}}
  %0 = tcp.argmax_pool %arg0 {dilations = [1], int_signedness = "Signed", kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xi64>
  return
}

// -----

func.func @argmax_pool_result_shape(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.argmax_pool' op requires a result of shape 1x6x4, but got 1x7x4}}
  %0 = tcp.argmax_pool %arg0 {dilations = [1], kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x7x4xi64>
  return
}

// -----

func.func @argmax_pool_int_signedness_of_float(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.argmax_pool' op attribute 'int_signedness' must not be set for the float type 'f32'}}
  %0 = tcp.argmax_pool %arg0 {dilations = [1], int_signedness = #tcp<signedness Unsigned>, kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xi64>
  return
}

// -----

func.func @argmax_pool_kernel_too_small(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.argmax_pool' op requires 'kernel' of 1 or more, but got [0]}}
  %0 = tcp.argmax_pool %arg0 {dilations = [1], kernel = [0], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xi64>
  return
}

// -----

func.func @argmax_pool_kernel_of_4_dimensions(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.argmax_pool' op requires a 'kernel' of 1 to 3 dimensions, but got 4}}
  %0 = tcp.argmax_pool %arg0 {dilations = [1], kernel = [1, 1, 1, 1], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xi64>
  return
}

// -----

func.func @argmax_pool_strides_too_small(%arg0: tensor<1x6x8xf32>) {
  // expected-error @below {{'tcp.argmax_pool' op requires 'strides' of 1 or more, but got [0]}}
  %0 = tcp.argmax_pool %arg0 {dilations = [1], kernel = [3], padding_high = [1], padding_low = [1], strides = [0]} : tensor<1x6x8xf32> -> tensor<1x6x4xi64>
  return
}
