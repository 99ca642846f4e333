// RUN: tcp-opt %s -split-input-file -verify-diagnostics

func.func @const_result_type() {
  // expected-error @below {{'tcp.const' op result #0 must be ranked tensor of any type values, but got 'f32'}}
  %0 = tcp.const {value = dense<[1, 2]> : tensor<2xi64>} : f32
  return
}

// -----

func.func @const_without_value() {
  // expected-error @below {{'tcp.const' op requires attribute 'value'}}
  %0 = "tcp.const"() : () -> tensor<2xi64>
  return
}

// -----

func.func @const_value_type() {
  // expected-error @below {{'tcp.const' op attribute 'value' failed to satisfy constraint: constant tensor attribute of integers or floats (an arith.constant holds complex numbers)}}
  %0 = tcp.const {value = 1 : i64} : tensor<2xi64>
  return
}

// -----

func.func @const_of_complex_numbers() -> tensor<1xcomplex<f32>> {
  // expected-error @below {{'tcp.const' op attribute 'value' failed to satisfy constraint: constant tensor attribute of integers or floats (an arith.constant holds complex numbers)}}
  %0 = tcp.const {value = dense<[(1.0, 2.0)]> : tensor<1xcomplex<f32>>} : tensor<1xcomplex<f32>>
  return %0 : tensor<1xcomplex<f32>>
}

// -----

func.func @const_value_of_other_type() {
  // expected-error @below {{'tcp.const' op requires attribute 'value' to have the result's type 'tensor<3xi64>', but got 'tensor<2xi64>'}}
  %0 = tcp.const {value = dense<1> : tensor<2xi64>} : tensor<3xi64>
  return
}

// -----

// The custom form leaves out types that are always the same.
func.func @iota_sizes_type(%arg0: tensor<f32>) {
  // expected-error @below {{'tcp.iota' op operand #0 must be index, but got 'tensor<f32>'}}
  %0 = "tcp.iota"(%arg0) {dim = 0 : index} : (tensor<f32>) -> tensor<?xi64>
  return
}

// -----

func.func @iota_result_type() {
  // expected-error @below {{'tcp.iota' op result #0 must be ranked tensor of floating-point or signless integer values, but got 'tensor<5xindex>'}}
  %0 = tcp.iota() {dim = 0 : index} : tensor<5xindex>
  return
}

// -----

func.func @iota_without_dim() {
  // expected-error @below {{'tcp.iota' op requires attribute 'dim'}}
  %0 = tcp.iota() : tensor<5xi64>
  return
}

// -----

func.func @iota_dim_type() {
  // expected-error @below {{'tcp.iota' op attribute 'dim' failed to satisfy constraint: index attribute}}
  %0 = tcp.iota() {dim = 0 : i32} : tensor<2xi64>
  return
}

// -----

func.func @iota_dim_out_of_bounds(%arg0: index) {
  // expected-error @below {{'tcp.iota' op requires 'dim' within the rank 1, but got 1}}
  %0 = tcp.iota(%arg0) {dim = 1 : index} : tensor<?xi64>
  return
}

// -----

func.func @iota_dim_negative(%arg0: index) {
  // expected-error @below {{'tcp.iota' op requires 'dim' within the rank 1, but got -1}}
  %0 = tcp.iota(%arg0) {dim = -1 : index} : tensor<?xi64>
  return
}

// -----

// Only dynamic sizes are operands.
func.func @iota_sizes_count(%arg0: index) {
  // expected-error @below {{'tcp.iota' op requires 1 sizes, but got 2}}
  %0 = tcp.iota(%arg0, %arg0) {dim = 0 : index} : tensor<?x2xi64>
  return
}

// -----

func.func @broadcast_input_type(%arg0: f32, %arg1: index) {
  // expected-error @below {{'tcp.broadcast' op operand #0 must be ranked tensor of any type values, but got 'f32'}}
  %0 = tcp.broadcast %arg0, %arg1 {axes = [0]} : f32, index -> tensor<?x?xf32>
  return
}

// -----

func.func @broadcast_sizes_type(%arg0: tensor<1x?xf32>, %arg1: i64) {
  // expected-error @below {{'tcp.broadcast' op operand #1 must be index, but got 'i64'}}
  %0 = "tcp.broadcast"(%arg0, %arg1) {axes = [0]} : (tensor<1x?xf32>, i64) -> tensor<?x?xf32>
  return
}

// -----

func.func @broadcast_result_type(%arg0: tensor<1x?xf32>, %arg1: index) {
  // expected-error @below {{'tcp.broadcast' op result #0 must be ranked tensor of any type values, but got 'f32'}}
  %0 = tcp.broadcast %arg0, %arg1 {axes = [0]} : tensor<1x?xf32>, index -> f32
  return
}

// -----

func.func @broadcast_without_axes(%arg0: tensor<1x?xf32>, %arg1: index) {
  // expected-error @below {{'tcp.broadcast' op requires attribute 'axes'}}
  %0 = tcp.broadcast %arg0, %arg1 : tensor<1x?xf32>, index -> tensor<?x?xf32>
  return
}

// -----

func.func @broadcast_axes_type(%arg0: tensor<1x?xf32>, %arg1: index) {
  // expected-error @below {{'tcp.broadcast' op attribute 'axes' failed to satisfy constraint: 64-bit integer array attribute}}
  %0 = tcp.broadcast %arg0, %arg1 {axes = array<i64: 0>} : tensor<1x?xf32>, index -> tensor<?x?xf32>
  return
}

// -----

func.func @broadcast_axes_out_of_bounds(%arg0: tensor<1x?xf32>, %arg1: index) {
  // expected-error @below {{'tcp.broadcast' op requires 'axes' within the rank 2, but got 2}}
  %0 = tcp.broadcast %arg0, %arg1 {axes = [2]} : tensor<1x?xf32>, index -> tensor<?x?xf32>
  return
}

// -----

func.func @broadcast_axes_not_increasing(%arg0: tensor<1x?xf32>, %arg1: index) {
  // expected-error @below {{'tcp.broadcast' op requires 'axes' to strictly increase, but got [1, 0]}}
  %0 = tcp.broadcast %arg0, %arg1, %arg1 {axes = [1, 0]} : tensor<1x?xf32>, index, index -> tensor<?x?xf32>
  return
}

// -----

func.func @broadcast_axis_twice(%arg0: tensor<1x?xf32>, %arg1: index) {
  // expected-error @below {{'tcp.broadcast' op requires 'axes' to strictly increase, but got [0, 0]}}
  %0 = tcp.broadcast %arg0, %arg1, %arg1 {axes = [0, 0]} : tensor<1x?xf32>, index, index -> tensor<?x?xf32>
  return
}

// -----

// That a dynamic size will be 1 is not known.
func.func @broadcast_axis_of_other_size(%arg0: tensor<1x?xf32>, %arg1: index) {
  // expected-error @below {{'tcp.broadcast' op requires the operand to have the static size 1 along axis 1}}
  %0 = tcp.broadcast %arg0, %arg1 {axes = [1]} : tensor<1x?xf32>, index -> tensor<?x?xf32>
  return
}

// -----

func.func @broadcast_sizes_count(%arg0: tensor<1x?xf32>) {
  // expected-error @below {{'tcp.broadcast' op requires 1 sizes, one for each of 'axes', but got 0}}
  %0 = tcp.broadcast %arg0 {axes = [0]} : tensor<1x?xf32> -> tensor<?x?xf32>
  return
}

// -----

func.func @broadcast_result_rank(%arg0: tensor<1x?xf32>, %arg1: index) {
  // expected-error @below {{'tcp.broadcast' op requires a result of rank 2, but got rank 1}}
  %0 = tcp.broadcast %arg0, %arg1 {axes = [0]} : tensor<1x?xf32>, index -> tensor<?xf32>
  return
}

// -----

func.func @broadcast_element_type(%arg0: tensor<1x?xf32>, %arg1: index) {
  // expected-error @below {{'tcp.broadcast' op requires the same element type throughout, but got 'f32' and 'f64'}}
  %0 = tcp.broadcast %arg0, %arg1 {axes = [0]} : tensor<1x?xf32>, index -> tensor<?x?xf64>
  return
}

// -----

func.func @broadcast_result_shape(%arg0: tensor<2x1xi64>, %arg1: index) {
  // expected-error @below {{'tcp.broadcast' op requires a result of shape 2x?, but got 3x4}}
  %1 = tcp.broadcast %arg0, %arg1 {axes = [1]} : tensor<2x1xi64>, index -> tensor<3x4xi64>
  return
}

// -----

func.func @slice_input_type(%arg0: f32, %arg1: index, %arg2: index, %arg3: index, %arg4: index, %arg5: index, %arg6: index) {
  // expected-error @below {{'tcp.slice' op operand #0 must be ranked tensor of any type values, but got 'f32'}}
  %0 = tcp.slice %arg0 starts(%arg1, %arg2) sizes(%arg3, %arg4) strides(%arg5, %arg6) : f32 -> tensor<?x2xf32>
  return
}

// -----

// The custom form leaves out types that are always the same.
func.func @slice_starts_type(%arg0: tensor<?x?xf32>, %arg1: i64, %arg2: index, %arg3: index, %arg4: index, %arg5: index, %arg6: index) {
  // expected-error @below {{'tcp.slice' op operand #1 must be index, but got 'i64'}}
  %0 = "tcp.slice"(%arg0, %arg1, %arg2, %arg3, %arg4, %arg5, %arg6) {operandSegmentSizes = array<i32: 1, 2, 2, 2>} : (tensor<?x?xf32>, i64, index, index, index, index, index) -> tensor<?x2xf32>
  return
}

// -----

func.func @slice_sizes_type(%arg0: tensor<?x?xf32>, %arg1: index, %arg2: index, %arg3: i64, %arg4: index, %arg5: index, %arg6: index) {
  // expected-error @below {{'tcp.slice' op operand #3 must be index, but got 'i64'}}
  %0 = "tcp.slice"(%arg0, %arg1, %arg2, %arg3, %arg4, %arg5, %arg6) {operandSegmentSizes = array<i32: 1, 2, 2, 2>} : (tensor<?x?xf32>, index, index, i64, index, index, index) -> tensor<?x2xf32>
  return
}

// -----

func.func @slice_strides_type(%arg0: tensor<?x?xf32>, %arg1: index, %arg2: index, %arg3: index, %arg4: index, %arg5: i64, %arg6: index) {
  // expected-error @below {{'tcp.slice' op operand #5 must be index, but got 'i64'}}
  %0 = "tcp.slice"(%arg0, %arg1, %arg2, %arg3, %arg4, %arg5, %arg6) {operandSegmentSizes = array<i32: 1, 2, 2, 2>} : (tensor<?x?xf32>, index, index, index, index, i64, index) -> tensor<?x2xf32>
  return
}

// -----

func.func @slice_result_type(%arg0: tensor<?x?xf32>, %arg1: index, %arg2: index, %arg3: index, %arg4: index, %arg5: index, %arg6: index) {
  // expected-error @below {{'tcp.slice' op result #0 must be ranked tensor of any type values, but got 'f32'}}
  %0 = tcp.slice %arg0 starts(%arg1, %arg2) sizes(%arg3, %arg4) strides(%arg5, %arg6) : tensor<?x?xf32> -> f32
  return
}

// -----

func.func @slice_starts_count(%arg0: tensor<?x?xf32>, %arg1: index) {
  // expected-error @below {{'tcp.slice' op requires 2 starts, one for each dimension, but got 1}}
  %0 = tcp.slice %arg0 starts(%arg1) sizes(%arg1, %arg1) strides(%arg1, %arg1) : tensor<?x?xf32> -> tensor<?x?xf32>
  return
}

// -----

func.func @slice_sizes_count(%arg0: tensor<?x?xf32>, %arg1: index) {
  // expected-error @below {{'tcp.slice' op requires 2 sizes, one for each dimension, but got 0}}
  %0 = tcp.slice %arg0 starts(%arg1, %arg1) sizes() strides(%arg1, %arg1) : tensor<?x?xf32> -> tensor<?x?xf32>
  return
}

// -----

func.func @slice_strides_count(%arg0: tensor<?x?xf32>, %arg1: index) {
  // expected-error @below {{'tcp.slice' op requires 2 strides, one for each dimension, but got 3}}
  %0 = tcp.slice %arg0 starts(%arg1, %arg1) sizes(%arg1, %arg1) strides(%arg1, %arg1, %arg1) : tensor<?x?xf32> -> tensor<?x?xf32>
  return
}

// -----

func.func @slice_result_rank(%arg0: tensor<?x?xf32>, %arg1: index) {
  // expected-error @below {{'tcp.slice' op requires a result of rank 2, but got rank 1}}
  %0 = tcp.slice %arg0 starts(%arg1, %arg1) sizes(%arg1, %arg1) strides(%arg1, %arg1) : tensor<?x?xf32> -> tensor<?xf32>
  return
}

// -----

func.func @slice_element_type(%arg0: tensor<?x?xf32>, %arg1: index) {
  // expected-error @below {{'tcp.slice' op requires the same element type throughout, but got 'f32' and 'f16'}}
  %0 = tcp.slice %arg0 starts(%arg1, %arg1) sizes(%arg1, %arg1) strides(%arg1, %arg1) : tensor<?x?xf32> -> tensor<?x?xf16>
  return
}

// -----

func.func @slice_result_too_large(%arg0: tensor<2x3xf32>, %arg1: index) {
  // expected-error @below {{'tcp.slice' op requires a result no larger than the operand, but got 4 of 3 elements along axis 1}}
  %0 = tcp.slice %arg0 starts(%arg1, %arg1) sizes(%arg1, %arg1) strides(%arg1, %arg1) : tensor<2x3xf32> -> tensor<2x4xf32>
  return
}

// -----

// Which operands are starts, which sizes, and which strides is an attribute in the generic form.
func.func @slice_without_segment_sizes(%arg0: tensor<?x?xf32>, %arg1: index) {
  // expected-error @below {{'tcp.slice' op requires attribute 'operandSegmentSizes'}}
  %0 = "tcp.slice"(%arg0, %arg1) : (tensor<?x?xf32>, index) -> tensor<?x?xf32>
  return
}

// -----

func.func @slice_wrong_segment_sizes(%arg0: tensor<?x?xf32>, %arg1: index) {
  // expected-error @below {{'tcp.slice' op attribute 'operandSegmentSizes' does not fit the operands}}
  %0 = "tcp.slice"(%arg0, %arg1) {operandSegmentSizes = array<i32: 1, 2, 3, 4>} : (tensor<?x?xf32>, index) -> tensor<?x?xf32>
  return
}

// -----

func.func @slice_without_operands() {
  // expected-error @below {{'tcp.slice' op expected 1 or more operands, but found 0}}
  %0 = "tcp.slice"() : () -> tensor<?x?xf32>
  return
}

// -----

func.func @pad_input_type(%arg0: f32, %arg1: tensor<f32>, %arg2: index, %arg3: index, %arg4: index, %arg5: index) {
  // expected-error @below {{'tcp.pad' op operand #0 must be ranked tensor of any type values, but got 'f32'}}
  %0 = tcp.pad %arg0, %arg1 low(%arg2, %arg3) high(%arg4, %arg5) : f32, tensor<f32> -> tensor<?x?xf32>
  return
}

// -----

func.func @pad_value_type(%arg0: tensor<2x3xf32>, %arg1: index) {
  // expected-error @below {{'tcp.pad' op operand #1 must be 0D tensor of any type values, but got 'tensor<2x3xf32>'}}
  %0 = tcp.pad %arg0, %arg0 low(%arg1, %arg1) high(%arg1, %arg1) : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<?x?xf32>
  return
}

// -----

// The custom form leaves out types that are always the same.
func.func @pad_low_type(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>, %arg2: i64, %arg3: index, %arg4: index, %arg5: index) {
  // expected-error @below {{'tcp.pad' op operand #2 must be index, but got 'i64'}}
  %0 = "tcp.pad"(%arg0, %arg1, %arg2, %arg3, %arg4, %arg5) {operandSegmentSizes = array<i32: 1, 1, 2, 2>} : (tensor<2x3xf32>, tensor<f32>, i64, index, index, index) -> tensor<?x?xf32>
  return
}

// -----

func.func @pad_high_type(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>, %arg2: index, %arg3: index, %arg4: i64, %arg5: index) {
  // expected-error @below {{'tcp.pad' op operand #4 must be index, but got 'i64'}}
  %0 = "tcp.pad"(%arg0, %arg1, %arg2, %arg3, %arg4, %arg5) {operandSegmentSizes = array<i32: 1, 1, 2, 2>} : (tensor<2x3xf32>, tensor<f32>, index, index, i64, index) -> tensor<?x?xf32>
  return
}

// -----

func.func @pad_result_type(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>, %arg2: index, %arg3: index, %arg4: index, %arg5: index) {
  // expected-error @below {{'tcp.pad' op result #0 must be ranked tensor of any type values, but got 'f32'}}
  %0 = tcp.pad %arg0, %arg1 low(%arg2, %arg3) high(%arg4, %arg5) : tensor<2x3xf32>, tensor<f32> -> f32
  return
}

// -----

func.func @pad_low_count(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>, %arg2: index) {
  // expected-error @below {{'tcp.pad' op requires 2 low amounts, one for each dimension, but got 1}}
  %0 = tcp.pad %arg0, %arg1 low(%arg2) high(%arg2, %arg2) : tensor<2x3xf32>, tensor<f32> -> tensor<?x?xf32>
  return
}

// -----

func.func @pad_high_count(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>, %arg2: index) {
  // expected-error @below {{'tcp.pad' op requires 2 high amounts, one for each dimension, but got 0}}
  %0 = tcp.pad %arg0, %arg1 low(%arg2, %arg2) high() : tensor<2x3xf32>, tensor<f32> -> tensor<?x?xf32>
  return
}

// -----

func.func @pad_element_type(%arg0: tensor<?x?xi64>, %arg1: tensor<f32>, %arg2: index) {
  // expected-error @below {{'tcp.pad' op requires the same element type throughout, but got 'i64' and 'f32'}}
  %0 = tcp.pad %arg0, %arg1 low(%arg2, %arg2) high(%arg2, %arg2) : tensor<?x?xi64>, tensor<f32> -> tensor<?x?xi64>
  return
}

// -----

func.func @pad_result_rank(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>, %arg2: index) {
  // expected-error @below {{'tcp.pad' op requires a result of rank 2, but got rank 1}}
  %0 = tcp.pad %arg0, %arg1 low(%arg2, %arg2) high(%arg2, %arg2) : tensor<2x3xf32>, tensor<f32> -> tensor<?xf32>
  return
}

// -----

func.func @pad_result_too_small(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>, %arg2: index) {
  // expected-error @below {{'tcp.pad' op requires a result no smaller than the operand, but got 1 for 2 elements along axis 0}}
  %0 = tcp.pad %arg0, %arg1 low(%arg2, %arg2) high(%arg2, %arg2) : tensor<2x3xf32>, tensor<f32> -> tensor<1x?xf32>
  return
}

// -----

func.func @concat_inputs_type(%arg0: f32, %arg1: tensor<?x?xf32>, %arg2: tensor<?x3xf32>) {
  // expected-error @below {{'tcp.concat' op operand #0 must be ranked tensor of any type values, but got 'f32'}}
  %0 = tcp.concat %arg0, %arg1, %arg2 {dim = 0 : index} : f32, tensor<?x?xf32>, tensor<?x3xf32> -> tensor<?x3xf32>
  return
}

// -----

func.func @concat_result_type(%arg0: tensor<2x3xf32>, %arg1: tensor<?x?xf32>, %arg2: tensor<?x3xf32>) {
  // expected-error @below {{'tcp.concat' op result #0 must be ranked tensor of any type values, but got 'f32'}}
  %0 = tcp.concat %arg0, %arg1, %arg2 {dim = 0 : index} : tensor<2x3xf32>, tensor<?x?xf32>, tensor<?x3xf32> -> f32
  return
}

// -----

func.func @concat_without_dim(%arg0: tensor<2x3xf32>, %arg1: tensor<?x?xf32>, %arg2: tensor<?x3xf32>) {
  // expected-error @below {{'tcp.concat' op requires attribute 'dim'}}
  %0 = tcp.concat %arg0, %arg1, %arg2 : tensor<2x3xf32>, tensor<?x?xf32>, tensor<?x3xf32> -> tensor<?x3xf32>
  return
}

// -----

func.func @concat_dim_type(%arg0: tensor<2x3xf32>, %arg1: tensor<?x?xf32>, %arg2: tensor<?x3xf32>) {
  // expected-error @below {{'tcp.concat' op attribute 'dim' failed to satisfy constraint: index attribute}}
  %0 = tcp.concat %arg0, %arg1, %arg2 {dim = 0 : i32} : tensor<2x3xf32>, tensor<?x?xf32>, tensor<?x3xf32> -> tensor<?x3xf32>
  return
}

// -----

func.func @concat_without_operands() {
  // expected-error @below {{'tcp.concat' op requires at least one operand}}
  %0 = tcp.concat {dim = 0 : index} : () -> tensor<?xf32>
  return
}

// -----

func.func @concat_dim_out_of_bounds(%arg0: tensor<2x3xf32>) {
  // expected-error @below {{'tcp.concat' op requires 'dim' within the rank 2, but got 2}}
  %0 = tcp.concat %arg0 {dim = 2 : index} : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @concat_element_type(%arg0: tensor<2x3xf32>, %arg1: tensor<?x?xi64>) {
  // expected-error @below {{'tcp.concat' op requires the same element type throughout, but got 'f32' and 'i64'}}
  %0 = tcp.concat %arg0, %arg1 {dim = 0 : index} : tensor<2x3xf32>, tensor<?x?xi64> -> tensor<?x3xf32>
  return
}

// -----

func.func @concat_operand_1_rank(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>) {
  // expected-error @below {{'tcp.concat' op requires operand #1 of rank 2, but got rank 0}}
  %0 = tcp.concat %arg0, %arg1 {dim = 0 : index} : tensor<2x3xf32>, tensor<f32> -> tensor<?x3xf32>
  return
}

// -----

func.func @concat_sizes_differ(%arg0: tensor<2x1xi64>) {
  %1 = tcp.iota() {dim = 0 : index} : tensor<2x2xi64>
  // expected-error @below {{'tcp.concat' op requires operands that differ along axis 0 only}}
  %2 = tcp.concat %arg0, %1 {dim = 0 : index} : tensor<2x1xi64>, tensor<2x2xi64> -> tensor<?x?xi64>
  return
}

// -----

func.func @concat_result_shape(%arg0: tensor<2x3xf32>) {
  // expected-error @below {{'tcp.concat' op requires a result of shape 2x6, but got 2x5}}
  %0 = tcp.concat %arg0, %arg0 {dim = 1 : index} : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x5xf32>
  return
}

// -----

func.func @transpose_operand_type(%arg0: f32) {
  // expected-error @below {{'tcp.transpose' op operand #0 must be ranked tensor of any type values, but got 'f32'}}
  %0 = tcp.transpose %arg0 {permutation = [2, 0, 1]} : f32 -> tensor<3x4x2xf32>
  return
}

// -----

func.func @transpose_result_type(%arg0: tensor<4x2x3xf32>) {
  // expected-error @below {{'tcp.transpose' op result #0 must be ranked tensor of any type values, but got 'f32'}}
  %0 = tcp.transpose %arg0 {permutation = [2, 0, 1]} : tensor<4x2x3xf32> -> f32
  return
}

// -----

func.func @transpose_without_permutation(%arg0: tensor<4x2x3xf32>) {
  // expected-error @below {{'tcp.transpose' op requires attribute 'permutation'}}
  %0 = tcp.transpose %arg0 : tensor<4x2x3xf32> -> tensor<3x4x2xf32>
  return
}

// -----

func.func @transpose_permutation_type(%arg0: tensor<4x2x3xf32>) {
  // expected-error @below {{'tcp.transpose' op attribute 'permutation' failed to satisfy constraint: 64-bit integer array attribute}}
  %0 = tcp.transpose %arg0 {permutation = array<i64: 1>} : tensor<4x2x3xf32> -> tensor<3x4x2xf32>
  return
}

// -----

func.func @transpose_permutation_too_short(%arg0: tensor<2x3xf32>) {
  // expected-error @below {{'tcp.transpose' op requires a 'permutation' of 2 dimensions, but got [0]}}
  %0 = tcp.transpose %arg0 {permutation = [0]} : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @transpose_axis_twice(%arg0: tensor<2x3xf32>) {
  // expected-error @below {{'tcp.transpose' op requires a 'permutation' of 2 dimensions, but got [0, 0]}}
  %0 = tcp.transpose %arg0 {permutation = [0, 0]} : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @transpose_result_shape(%arg0: tensor<2x3xf32>) {
  // expected-error @below {{'tcp.transpose' op requires a result of shape 3x2, but got 2x3}}
  %0 = tcp.transpose %arg0 {permutation = [1, 0]} : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @transpose_element_type(%arg0: tensor<2x3xf32>) {
  // expected-error @below {{'tcp.transpose' op requires the same element type throughout, but got 'f32' and 'f64'}}
  %0 = tcp.transpose %arg0 {permutation = [1, 0]} : tensor<2x3xf32> -> tensor<3x2xf64>
  return
}

// -----

func.func @reverse_operand_type(%arg0: f32) {
  // expected-error @below {{'tcp.reverse' op operand #0 must be ranked tensor of any type values, but got 'f32'}}
  %0 = tcp.reverse %arg0 {axes = [0, 2]} : f32 -> tensor<4x2x3xf32>
  return
}

// -----

func.func @reverse_result_type(%arg0: tensor<4x2x3xf32>) {
  // expected-error @below {{'tcp.reverse' op result #0 must be ranked tensor of any type values, but got 'f32'}}
  %0 = tcp.reverse %arg0 {axes = [0, 2]} : tensor<4x2x3xf32> -> f32
  return
}

// -----

func.func @reverse_without_axes(%arg0: tensor<4x2x3xf32>) {
  // expected-error @below {{'tcp.reverse' op requires attribute 'axes'}}
  %0 = tcp.reverse %arg0 : tensor<4x2x3xf32> -> tensor<4x2x3xf32>
  return
}

// -----

func.func @reverse_axes_type(%arg0: tensor<4x2x3xf32>) {
  // expected-error @below {{'tcp.reverse' op attribute 'axes' failed to satisfy constraint: 64-bit integer array attribute}}
  %0 = tcp.reverse %arg0 {axes = array<i64: 1>} : tensor<4x2x3xf32> -> tensor<4x2x3xf32>
  return
}

// -----

func.func @reverse_axes_out_of_bounds(%arg0: tensor<2x3xf32>) {
  // expected-error @below {{'tcp.reverse' op requires 'axes' within the rank 2, but got 2}}
  %0 = tcp.reverse %arg0 {axes = [2]} : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @reverse_axes_not_increasing(%arg0: tensor<2x3xf32>) {
  // expected-error @below {{'tcp.reverse' op requires 'axes' to strictly increase, but got [1, 0]}}
  %0 = tcp.reverse %arg0 {axes = [1, 0]} : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @reverse_result_shape(%arg0: tensor<2x3xf32>) {
  // expected-error @below {{'tcp.reverse' op requires a result of shape 2x3, but got 3x2}}
  %0 = tcp.reverse %arg0 {axes = [0]} : tensor<2x3xf32> -> tensor<3x2xf32>
  return
}

// -----

func.func @reverse_element_type(%arg0: tensor<2x3xf32>) {
  // expected-error @below {{'tcp.reverse' op requires the same element type throughout, but got 'f32' and 'i32'}}
  %0 = tcp.reverse %arg0 {axes = [0]} : tensor<2x3xf32> -> tensor<2x3xi32>
  return
}

// -----

func.func @transpose_of_a_location(%arg0: tensor<4x2x3xf32>) -> tensor<3x4x2xf32> {
  // expected-error @below {{'tcp.transpose' op attribute 'permutation' failed to satisfy constraint: 64-bit integer array attribute}}
  %0 = tcp.transpose %arg0 {permutation = [loc(unknown), 0, 1]} : tensor<4x2x3xf32> -> tensor<3x4x2xf32>
  return %0 : tensor<3x4x2xf32>
}
