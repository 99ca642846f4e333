// RUN: tcp-opt %s -split-input-file -verify-diagnostics

// Functions of one float.

func.func @tanh_operand_type(%arg0: tensor<2xi32>) {
  // expected-error @below {{'tcp.tanh' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.tanh %arg0 : tensor<2xi32> -> tensor<2xi32>
  return
}

// -----

func.func @tanh_of_no_tensor(%arg0: f32) {
  // expected-error @below {{'tcp.tanh' op operand #0 must be ranked tensor of floating-point values, but got 'f32'}}
  %0 = tcp.tanh %arg0 : f32 -> f32
  return
}

// -----

func.func @tanh_of_unranked_tensor(%arg0: tensor<*xf32>) {
  // expected-error @below {{'tcp.tanh' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<*xf32>'}}
  %0 = tcp.tanh %arg0 : tensor<*xf32> -> tensor<*xf32>
  return
}

// -----

func.func @tanh_result_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.tanh' op result #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.tanh %arg0 : tensor<2xf32> -> tensor<2xi32>
  return
}

// -----

func.func @tanh_shape(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.tanh' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.tanh %arg0 : tensor<2xf32> -> tensor<3xf32>
  return
}

// -----

func.func @tanh_rank(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.tanh' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.tanh %arg0 : tensor<2xf32> -> tensor<2x1xf32>
  return
}

// -----

func.func @tanh_element_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.tanh' op requires the same element type for all operands and results}}
  %0 = tcp.tanh %arg0 : tensor<2xf32> -> tensor<2xf64>
  return
}

// -----

func.func @sigmoid_operand_type(%arg0: tensor<2xi32>) {
  // expected-error @below {{'tcp.sigmoid' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.sigmoid %arg0 : tensor<2xi32> -> tensor<2xi32>
  return
}

// -----

func.func @sigmoid_result_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.sigmoid' op result #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.sigmoid %arg0 : tensor<2xf32> -> tensor<2xi32>
  return
}

// -----

func.func @sigmoid_shape(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.sigmoid' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.sigmoid %arg0 : tensor<2xf32> -> tensor<3xf32>
  return
}

// -----

func.func @sigmoid_element_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.sigmoid' op requires the same element type for all operands and results}}
  %0 = tcp.sigmoid %arg0 : tensor<2xf32> -> tensor<2xf64>
  return
}

// -----

func.func @sqrt_operand_type(%arg0: tensor<2xi32>) {
  // expected-error @below {{'tcp.sqrt' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.sqrt %arg0 : tensor<2xi32> -> tensor<2xi32>
  return
}

// -----

func.func @sqrt_result_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.sqrt' op result #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.sqrt %arg0 : tensor<2xf32> -> tensor<2xi32>
  return
}

// -----

func.func @sqrt_shape(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.sqrt' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.sqrt %arg0 : tensor<2xf32> -> tensor<3xf32>
  return
}

// -----

func.func @sqrt_element_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.sqrt' op requires the same element type for all operands and results}}
  %0 = tcp.sqrt %arg0 : tensor<2xf32> -> tensor<2xf64>
  return
}

// -----

func.func @rsqrt_operand_type(%arg0: tensor<2xi32>) {
  // expected-error @below {{'tcp.rsqrt' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.rsqrt %arg0 : tensor<2xi32> -> tensor<2xi32>
  return
}

// -----

func.func @rsqrt_result_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.rsqrt' op result #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.rsqrt %arg0 : tensor<2xf32> -> tensor<2xi32>
  return
}

// -----

func.func @rsqrt_shape(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.rsqrt' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.rsqrt %arg0 : tensor<2xf32> -> tensor<3xf32>
  return
}

// -----

func.func @rsqrt_element_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.rsqrt' op requires the same element type for all operands and results}}
  %0 = tcp.rsqrt %arg0 : tensor<2xf32> -> tensor<2xf64>
  return
}

// -----

func.func @ceil_operand_type(%arg0: tensor<2xi32>) {
  // expected-error @below {{'tcp.ceil' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.ceil %arg0 : tensor<2xi32> -> tensor<2xi32>
  return
}

// -----

func.func @ceil_result_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.ceil' op result #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.ceil %arg0 : tensor<2xf32> -> tensor<2xi32>
  return
}

// -----

func.func @ceil_shape(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.ceil' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.ceil %arg0 : tensor<2xf32> -> tensor<3xf32>
  return
}

// -----

func.func @ceil_element_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.ceil' op requires the same element type for all operands and results}}
  %0 = tcp.ceil %arg0 : tensor<2xf32> -> tensor<2xf64>
  return
}

// -----

func.func @floor_operand_type(%arg0: tensor<2xi32>) {
  // expected-error @below {{'tcp.floor' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.floor %arg0 : tensor<2xi32> -> tensor<2xi32>
  return
}

// -----

func.func @floor_result_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.floor' op result #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.floor %arg0 : tensor<2xf32> -> tensor<2xi32>
  return
}

// -----

func.func @floor_shape(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.floor' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.floor %arg0 : tensor<2xf32> -> tensor<3xf32>
  return
}

// -----

func.func @floor_element_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.floor' op requires the same element type for all operands and results}}
  %0 = tcp.floor %arg0 : tensor<2xf32> -> tensor<2xf64>
  return
}

// -----

func.func @round_operand_type(%arg0: tensor<2xi32>) {
  // expected-error @below {{'tcp.round' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.round %arg0 : tensor<2xi32> -> tensor<2xi32>
  return
}

// -----

func.func @round_result_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.round' op result #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.round %arg0 : tensor<2xf32> -> tensor<2xi32>
  return
}

// -----

func.func @round_shape(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.round' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.round %arg0 : tensor<2xf32> -> tensor<3xf32>
  return
}

// -----

func.func @round_element_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.round' op requires the same element type for all operands and results}}
  %0 = tcp.round %arg0 : tensor<2xf32> -> tensor<2xf64>
  return
}

// -----

func.func @round_even_operand_type(%arg0: tensor<2xi32>) {
  // expected-error @below {{'tcp.round_even' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.round_even %arg0 : tensor<2xi32> -> tensor<2xi32>
  return
}

// -----

func.func @round_even_result_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.round_even' op result #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.round_even %arg0 : tensor<2xf32> -> tensor<2xi32>
  return
}

// -----

func.func @round_even_shape(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.round_even' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.round_even %arg0 : tensor<2xf32> -> tensor<3xf32>
  return
}

// -----

func.func @round_even_element_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.round_even' op requires the same element type for all operands and results}}
  %0 = tcp.round_even %arg0 : tensor<2xf32> -> tensor<2xf64>
  return
}

// -----

func.func @exp_operand_type(%arg0: tensor<2xi32>) {
  // expected-error @below {{'tcp.exp' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.exp %arg0 : tensor<2xi32> -> tensor<2xi32>
  return
}

// -----

func.func @exp_result_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.exp' op result #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.exp %arg0 : tensor<2xf32> -> tensor<2xi32>
  return
}

// -----

func.func @exp_shape(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.exp' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.exp %arg0 : tensor<2xf32> -> tensor<3xf32>
  return
}

// -----

func.func @exp_element_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.exp' op requires the same element type for all operands and results}}
  %0 = tcp.exp %arg0 : tensor<2xf32> -> tensor<2xf64>
  return
}

// -----

func.func @expm1_operand_type(%arg0: tensor<2xi32>) {
  // expected-error @below {{'tcp.expm1' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.expm1 %arg0 : tensor<2xi32> -> tensor<2xi32>
  return
}

// -----

func.func @expm1_result_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.expm1' op result #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.expm1 %arg0 : tensor<2xf32> -> tensor<2xi32>
  return
}

// -----

func.func @expm1_shape(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.expm1' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.expm1 %arg0 : tensor<2xf32> -> tensor<3xf32>
  return
}

// -----

func.func @expm1_element_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.expm1' op requires the same element type for all operands and results}}
  %0 = tcp.expm1 %arg0 : tensor<2xf32> -> tensor<2xf64>
  return
}

// -----

func.func @log_operand_type(%arg0: tensor<2xi32>) {
  // expected-error @below {{'tcp.log' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.log %arg0 : tensor<2xi32> -> tensor<2xi32>
  return
}

// -----

func.func @log_result_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.log' op result #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.log %arg0 : tensor<2xf32> -> tensor<2xi32>
  return
}

// -----

func.func @log_shape(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.log' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.log %arg0 : tensor<2xf32> -> tensor<3xf32>
  return
}

// -----

func.func @log_element_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.log' op requires the same element type for all operands and results}}
  %0 = tcp.log %arg0 : tensor<2xf32> -> tensor<2xf64>
  return
}

// -----

func.func @log1p_operand_type(%arg0: tensor<2xi32>) {
  // expected-error @below {{'tcp.log1p' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.log1p %arg0 : tensor<2xi32> -> tensor<2xi32>
  return
}

// -----

func.func @log1p_result_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.log1p' op result #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.log1p %arg0 : tensor<2xf32> -> tensor<2xi32>
  return
}

// -----

func.func @log1p_shape(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.log1p' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.log1p %arg0 : tensor<2xf32> -> tensor<3xf32>
  return
}

// -----

func.func @log1p_element_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.log1p' op requires the same element type for all operands and results}}
  %0 = tcp.log1p %arg0 : tensor<2xf32> -> tensor<2xf64>
  return
}

// -----

func.func @erf_operand_type(%arg0: tensor<2xi32>) {
  // expected-error @below {{'tcp.erf' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.erf %arg0 : tensor<2xi32> -> tensor<2xi32>
  return
}

// -----

func.func @erf_result_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.erf' op result #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.erf %arg0 : tensor<2xf32> -> tensor<2xi32>
  return
}

// -----

func.func @erf_shape(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.erf' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.erf %arg0 : tensor<2xf32> -> tensor<3xf32>
  return
}

// -----

func.func @erf_element_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.erf' op requires the same element type for all operands and results}}
  %0 = tcp.erf %arg0 : tensor<2xf32> -> tensor<2xf64>
  return
}

// -----

func.func @erfc_operand_type(%arg0: tensor<2xi32>) {
  // expected-error @below {{'tcp.erfc' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.erfc %arg0 : tensor<2xi32> -> tensor<2xi32>
  return
}

// -----

func.func @erfc_result_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.erfc' op result #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.erfc %arg0 : tensor<2xf32> -> tensor<2xi32>
  return
}

// -----

func.func @erfc_shape(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.erfc' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.erfc %arg0 : tensor<2xf32> -> tensor<3xf32>
  return
}

// -----

func.func @erfc_element_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.erfc' op requires the same element type for all operands and results}}
  %0 = tcp.erfc %arg0 : tensor<2xf32> -> tensor<2xf64>
  return
}

// -----

func.func @sin_operand_type(%arg0: tensor<2xi32>) {
  // expected-error @below {{'tcp.sin' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.sin %arg0 : tensor<2xi32> -> tensor<2xi32>
  return
}

// -----

func.func @sin_result_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.sin' op result #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.sin %arg0 : tensor<2xf32> -> tensor<2xi32>
  return
}

// -----

func.func @sin_shape(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.sin' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.sin %arg0 : tensor<2xf32> -> tensor<3xf32>
  return
}

// -----

func.func @sin_element_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.sin' op requires the same element type for all operands and results}}
  %0 = tcp.sin %arg0 : tensor<2xf32> -> tensor<2xf64>
  return
}

// -----

func.func @cos_operand_type(%arg0: tensor<2xi32>) {
  // expected-error @below {{'tcp.cos' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.cos %arg0 : tensor<2xi32> -> tensor<2xi32>
  return
}

// -----

func.func @cos_result_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.cos' op result #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.cos %arg0 : tensor<2xf32> -> tensor<2xi32>
  return
}

// -----

func.func @cos_shape(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.cos' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.cos %arg0 : tensor<2xf32> -> tensor<3xf32>
  return
}

// -----

func.func @cos_element_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.cos' op requires the same element type for all operands and results}}
  %0 = tcp.cos %arg0 : tensor<2xf32> -> tensor<2xf64>
  return
}

// -----

func.func @tan_operand_type(%arg0: tensor<2xi32>) {
  // expected-error @below {{'tcp.tan' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.tan %arg0 : tensor<2xi32> -> tensor<2xi32>
  return
}

// -----

func.func @tan_result_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.tan' op result #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.tan %arg0 : tensor<2xf32> -> tensor<2xi32>
  return
}

// -----

func.func @tan_shape(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.tan' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.tan %arg0 : tensor<2xf32> -> tensor<3xf32>
  return
}

// -----

func.func @tan_element_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.tan' op requires the same element type for all operands and results}}
  %0 = tcp.tan %arg0 : tensor<2xf32> -> tensor<2xf64>
  return
}

// -----

func.func @asin_operand_type(%arg0: tensor<2xi32>) {
  // expected-error @below {{'tcp.asin' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.asin %arg0 : tensor<2xi32> -> tensor<2xi32>
  return
}

// -----

func.func @asin_result_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.asin' op result #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.asin %arg0 : tensor<2xf32> -> tensor<2xi32>
  return
}

// -----

func.func @asin_shape(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.asin' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.asin %arg0 : tensor<2xf32> -> tensor<3xf32>
  return
}

// -----

func.func @asin_element_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.asin' op requires the same element type for all operands and results}}
  %0 = tcp.asin %arg0 : tensor<2xf32> -> tensor<2xf64>
  return
}

// -----

func.func @acos_operand_type(%arg0: tensor<2xi32>) {
  // expected-error @below {{'tcp.acos' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.acos %arg0 : tensor<2xi32> -> tensor<2xi32>
  return
}

// -----

func.func @acos_result_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.acos' op result #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.acos %arg0 : tensor<2xf32> -> tensor<2xi32>
  return
}

// -----

func.func @acos_shape(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.acos' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.acos %arg0 : tensor<2xf32> -> tensor<3xf32>
  return
}

// -----

func.func @acos_element_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.acos' op requires the same element type for all operands and results}}
  %0 = tcp.acos %arg0 : tensor<2xf32> -> tensor<2xf64>
  return
}

// -----

func.func @atan_operand_type(%arg0: tensor<2xi32>) {
  // expected-error @below {{'tcp.atan' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.atan %arg0 : tensor<2xi32> -> tensor<2xi32>
  return
}

// -----

func.func @atan_result_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.atan' op result #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.atan %arg0 : tensor<2xf32> -> tensor<2xi32>
  return
}

// -----

func.func @atan_shape(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.atan' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.atan %arg0 : tensor<2xf32> -> tensor<3xf32>
  return
}

// -----

func.func @atan_element_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.atan' op requires the same element type for all operands and results}}
  %0 = tcp.atan %arg0 : tensor<2xf32> -> tensor<2xf64>
  return
}

// -----

func.func @sinh_operand_type(%arg0: tensor<2xi32>) {
  // expected-error @below {{'tcp.sinh' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.sinh %arg0 : tensor<2xi32> -> tensor<2xi32>
  return
}

// -----

func.func @sinh_result_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.sinh' op result #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.sinh %arg0 : tensor<2xf32> -> tensor<2xi32>
  return
}

// -----

func.func @sinh_shape(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.sinh' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.sinh %arg0 : tensor<2xf32> -> tensor<3xf32>
  return
}

// -----

func.func @sinh_element_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.sinh' op requires the same element type for all operands and results}}
  %0 = tcp.sinh %arg0 : tensor<2xf32> -> tensor<2xf64>
  return
}

// -----

func.func @polynomial_operand_type(%arg0: tensor<2xi32>) {
  // expected-error @below {{'tcp.polynomial' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.polynomial %arg0 {coefficients = [1.0]} : tensor<2xi32> -> tensor<2xi32>
  return
}

// -----

func.func @polynomial_result_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.polynomial' op result #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.polynomial %arg0 {coefficients = [1.0]} : tensor<2xf32> -> tensor<2xi32>
  return
}

// -----

func.func @polynomial_shape(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.polynomial' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.polynomial %arg0 {coefficients = [1.0]} : tensor<2xf32> -> tensor<3xf32>
  return
}

// -----

func.func @polynomial_element_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.polynomial' op requires the same element type for all operands and results}}
  %0 = tcp.polynomial %arg0 {coefficients = [1.0]} : tensor<2xf32> -> tensor<2xf64>
  return
}

// -----

func.func @polynomial_of_nothing(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.polynomial' op requires at least one of 'coefficients'}}
  %0 = tcp.polynomial %arg0 {coefficients = []} : tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @polynomial_of_integers(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.polynomial' op attribute 'coefficients' failed to satisfy constraint: 64-bit float array attribute}}
  %0 = tcp.polynomial %arg0 {coefficients = [1]} : tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @polynomial_without_coefficients(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.polynomial' op requires attribute 'coefficients'}}
  %0 = tcp.polynomial %arg0 : tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @asinh_operand_type(%arg0: tensor<2xi32>) {
  // expected-error @below {{'tcp.asinh' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.asinh %arg0 : tensor<2xi32> -> tensor<2xi32>
  return
}

// -----

func.func @asinh_result_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.asinh' op result #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.asinh %arg0 : tensor<2xf32> -> tensor<2xi32>
  return
}

// -----

func.func @asinh_shape(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.asinh' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.asinh %arg0 : tensor<2xf32> -> tensor<3xf32>
  return
}

// -----

func.func @asinh_element_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.asinh' op requires the same element type for all operands and results}}
  %0 = tcp.asinh %arg0 : tensor<2xf32> -> tensor<2xf64>
  return
}

// -----

func.func @cosh_operand_type(%arg0: tensor<2xi32>) {
  // expected-error @below {{'tcp.cosh' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.cosh %arg0 : tensor<2xi32> -> tensor<2xi32>
  return
}

// -----

func.func @cosh_result_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.cosh' op result #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.cosh %arg0 : tensor<2xf32> -> tensor<2xi32>
  return
}

// -----

func.func @cosh_shape(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.cosh' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.cosh %arg0 : tensor<2xf32> -> tensor<3xf32>
  return
}

// -----

func.func @cosh_element_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.cosh' op requires the same element type for all operands and results}}
  %0 = tcp.cosh %arg0 : tensor<2xf32> -> tensor<2xf64>
  return
}

// -----

// Functions of one number.

func.func @abs_operand_type(%arg0: tensor<2xui8>) {
  // expected-error @below {{'tcp.abs' op operand #0 must be ranked tensor of floating-point or signless integer values, but got 'tensor<2xui8>'}}
  %0 = tcp.abs %arg0 : tensor<2xui8> -> tensor<2xui8>
  return
}

// -----

func.func @abs_result_type(%arg0: tensor<f16>) {
  // expected-error @below {{'tcp.abs' op result #0 must be ranked tensor of floating-point or signless integer values, but got 'tensor<index>'}}
  %0 = tcp.abs %arg0 : tensor<f16> -> tensor<index>
  return
}

// -----

func.func @abs_shape(%arg0: tensor<2xi8>) {
  // expected-error @below {{'tcp.abs' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.abs %arg0 : tensor<2xi8> -> tensor<3xi8>
  return
}

// -----

func.func @abs_element_type(%arg0: tensor<2xi8>) {
  // expected-error @below {{'tcp.abs' op requires the same element type for all operands and results}}
  %0 = tcp.abs %arg0 : tensor<2xi8> -> tensor<2xi16>
  return
}

// -----

func.func @neg_operand_type(%arg0: tensor<2xui8>) {
  // expected-error @below {{'tcp.neg' op operand #0 must be ranked tensor of floating-point, signless integer or complex values, but got 'tensor<2xui8>'}}
  %0 = tcp.neg %arg0 : tensor<2xui8> -> tensor<2xui8>
  return
}

// -----

func.func @neg_result_type(%arg0: tensor<f16>) {
  // expected-error @below {{'tcp.neg' op result #0 must be ranked tensor of floating-point, signless integer or complex values, but got 'tensor<index>'}}
  %0 = tcp.neg %arg0 : tensor<f16> -> tensor<index>
  return
}

// -----

func.func @neg_shape(%arg0: tensor<2xi8>) {
  // expected-error @below {{'tcp.neg' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.neg %arg0 : tensor<2xi8> -> tensor<3xi8>
  return
}

// -----

func.func @neg_element_type(%arg0: tensor<2xi8>) {
  // expected-error @below {{'tcp.neg' op requires the same element type for all operands and results}}
  %0 = tcp.neg %arg0 : tensor<2xi8> -> tensor<2xi16>
  return
}

// -----

func.func @clamp_operand_type(%arg0: tensor<?xindex>) {
  // expected-error @below {{'tcp.clamp' op operand #0 must be ranked tensor of floating-point or signless integer values, but got 'tensor<?xindex>'}}
  %0 = tcp.clamp %arg0 {max_float = 1.000000e+00 : f32} : tensor<?xindex> -> tensor<?xf32>
  return
}

// -----

func.func @clamp_result_type(%arg0: tensor<?xf32>) {
  // expected-error @below {{'tcp.clamp' op result #0 must be ranked tensor of floating-point or signless integer values, but got 'tensor<?xindex>'}}
  %0 = tcp.clamp %arg0 {max_float = 1.000000e+00 : f32} : tensor<?xf32> -> tensor<?xindex>
  return
}

// -----

func.func @clamp_shape(%arg0: tensor<?xf32>) {
  // expected-error @below {{'tcp.clamp' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.clamp %arg0 {max_float = 1.000000e+00 : f32} : tensor<?xf32> -> tensor<7x3xf32>
  return
}

// -----

func.func @clamp_element_type(%arg0: tensor<?xf32>) {
  // expected-error @below {{'tcp.clamp' op requires the same element type for all operands and results}}
  %0 = tcp.clamp %arg0 {max_float = 1.000000e+00 : f32} : tensor<?xf32> -> tensor<?xf64>
  return
}

// -----

func.func @clamp_min_float_type(%arg0: tensor<?xf32>) {
  // expected-error @below {{'tcp.clamp' op attribute 'min_float' failed to satisfy constraint: floating-point attribute}}
  %0 = tcp.clamp %arg0 {max_float = 1.000000e+00 : f32, min_float = 1 : i64} : tensor<?xf32> -> tensor<?xf32>
  return
}

// -----

func.func @clamp_max_float_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.clamp' op attribute 'max_float' failed to satisfy constraint: floating-point attribute}}
  %0 = tcp.clamp %arg0 {max_float = 1 : i64} : tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @clamp_min_int_type(%arg0: tensor<?xf32>) {
  // expected-error @below {{'tcp.clamp' op attribute 'min_int' failed to satisfy constraint: 64-bit signless integer attribute}}
  %0 = tcp.clamp %arg0 {max_float = 1.000000e+00 : f32, min_int = 1 : i32} : tensor<?xf32> -> tensor<?xf32>
  return
}

// -----

func.func @clamp_max_int_type(%arg0: tensor<2xi32>) {
  // expected-error @below {{'tcp.clamp' op attribute 'max_int' failed to satisfy constraint: 64-bit signless integer attribute}}
  %0 = tcp.clamp %arg0 {max_int = 1 : i32} : tensor<2xi32> -> tensor<2xi32>
  return
}

// -----

func.func @clamp_int_signedness_type(%arg0: tensor<2xi32>) {
  // expected-error @below {{'tcp.clamp' op attribute 'int_signedness' failed to satisfy constraint: signedness attribute, one of Signed, Unsigned, Signless}}
  %0 = tcp.clamp %arg0 {max_int = 1, int_signedness = #tcp<predicate eq>} : tensor<2xi32> -> tensor<2xi32>
  return
}

// -----

func.func @clamp_float_without_bounds(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.clamp' op requires at least one of 'min_float' and 'max_float'}}
  %0 = tcp.clamp %arg0 : tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @clamp_int_without_bounds(%arg0: tensor<2xi32>) {
  // expected-error @below {{'tcp.clamp' op requires at least one of 'min_int' and 'max_int'}}
  %0 = tcp.clamp %arg0 : tensor<2xi32> -> tensor<2xi32>
  return
}

// -----

func.func @clamp_max_int_of_f32(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.clamp' op attribute 'max_int' must not be set for elements of type 'f32'}}
  %0 = tcp.clamp %arg0 {max_int = 1 : i64} : tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

// Bounds are of the operand's kind.
func.func @clamp_min_float_of_i32(%arg0: tensor<2xi32>) {
  // expected-error @below {{'tcp.clamp' op attribute 'min_float' must not be set for elements of type 'i32'}}
  %0 = tcp.clamp %arg0 {max_int = 1 : i64, min_float = 1.0 : f32} : tensor<2xi32> -> tensor<2xi32>
  return
}

// -----

func.func @clamp_int_signedness_of_float(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.clamp' op attribute 'int_signedness' must not be set for the float type 'f32'}}
  %0 = tcp.clamp %arg0 {max_float = 1.0 : f32, int_signedness = #tcp<signedness Signed>} : tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @clamp_int_signedness_signless(%arg0: tensor<2xi32>) {
  // expected-error @below {{'tcp.clamp' op attribute 'int_signedness' must be Signed or Unsigned for 'i32', but got Signless}}
  %0 = tcp.clamp %arg0 {max_int = 1, int_signedness = #tcp<signedness Signless>} : tensor<2xi32> -> tensor<2xi32>
  return
}

// -----

// Negations of truth values and of bits.

func.func @logical_not_operand_type(%arg0: tensor<2xi8>) {
  // expected-error @below {{'tcp.logical_not' op operand #0 must be ranked tensor of 1-bit signless integer values, but got 'tensor<2xi8>'}}
  %0 = tcp.logical_not %arg0 : tensor<2xi8> -> tensor<2xi8>
  return
}

// -----

func.func @logical_not_result_type(%arg0: tensor<?xi1>) {
  // expected-error @below {{'tcp.logical_not' op result #0 must be ranked tensor of 1-bit signless integer values, but got 'tensor<?xi8>'}}
  %0 = tcp.logical_not %arg0 : tensor<?xi1> -> tensor<?xi8>
  return
}

// -----

func.func @logical_not_shape(%arg0: tensor<?xi1>) {
  // expected-error @below {{'tcp.logical_not' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.logical_not %arg0 : tensor<?xi1> -> tensor<7x3xi1>
  return
}

// -----

func.func @bitwise_not_operand_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.bitwise_not' op operand #0 must be ranked tensor of signless integer values, but got 'tensor<2xf32>'}}
  %0 = tcp.bitwise_not %arg0 : tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @bitwise_not_result_type(%arg0: tensor<?xi64>) {
  // expected-error @below {{'tcp.bitwise_not' op result #0 must be ranked tensor of signless integer values, but got 'tensor<?xf32>'}}
  %0 = tcp.bitwise_not %arg0 : tensor<?xi64> -> tensor<?xf32>
  return
}

// -----

func.func @bitwise_not_shape(%arg0: tensor<?xi64>) {
  // expected-error @below {{'tcp.bitwise_not' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.bitwise_not %arg0 : tensor<?xi64> -> tensor<7x3xi64>
  return
}

// -----

func.func @bitwise_not_element_type(%arg0: tensor<2xi8>) {
  // expected-error @below {{'tcp.bitwise_not' op requires the same element type for all operands and results}}
  %0 = tcp.bitwise_not %arg0 : tensor<2xi8> -> tensor<2xi16>
  return
}

// -----

// Questions about one float.

func.func @isnan_operand_type(%arg0: tensor<2xi8>) {
  // expected-error @below {{'tcp.isnan' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<2xi8>'}}
  %0 = tcp.isnan %arg0 : tensor<2xi8> -> tensor<2xi1>
  return
}

// -----

func.func @isnan_result_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.isnan' op result #0 must be ranked tensor of 1-bit signless integer values, but got 'tensor<2xf32>'}}
  %0 = tcp.isnan %arg0 : tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @isnan_shape(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.isnan' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.isnan %arg0 : tensor<2xf32> -> tensor<3xi1>
  return
}

// -----

func.func @isinf_operand_type(%arg0: tensor<2xi8>) {
  // expected-error @below {{'tcp.isinf' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<2xi8>'}}
  %0 = tcp.isinf %arg0 : tensor<2xi8> -> tensor<2xi1>
  return
}

// -----

func.func @isinf_result_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.isinf' op result #0 must be ranked tensor of 1-bit signless integer values, but got 'tensor<2xf32>'}}
  %0 = tcp.isinf %arg0 : tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @isinf_shape(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.isinf' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.isinf %arg0 : tensor<2xf32> -> tensor<3xi1>
  return
}

// -----

func.func @isfinite_operand_type(%arg0: tensor<2xi8>) {
  // expected-error @below {{'tcp.isfinite' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<2xi8>'}}
  %0 = tcp.isfinite %arg0 : tensor<2xi8> -> tensor<2xi1>
  return
}

// -----

func.func @isfinite_result_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.isfinite' op result #0 must be ranked tensor of 1-bit signless integer values, but got 'tensor<2xf32>'}}
  %0 = tcp.isfinite %arg0 : tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @isfinite_shape(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.isfinite' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.isfinite %arg0 : tensor<2xf32> -> tensor<3xi1>
  return
}

// -----

func.func @signbit_operand_type(%arg0: tensor<2xi8>) {
  // expected-error @below {{'tcp.signbit' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<2xi8>'}}
  %0 = tcp.signbit %arg0 : tensor<2xi8> -> tensor<2xi1>
  return
}

// -----

func.func @signbit_result_type(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.signbit' op result #0 must be ranked tensor of 1-bit signless integer values, but got 'tensor<2xf32>'}}
  %0 = tcp.signbit %arg0 : tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @signbit_shape(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.signbit' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.signbit %arg0 : tensor<2xf32> -> tensor<3xi1>
  return
}

// -----

// Functions of two floats.

func.func @divf_in1_type(%arg0: tensor<2xi32>, %arg1: tensor<2xf32>) {
  // expected-error @below {{'tcp.divf' op operand #0 must be ranked tensor of floating-point or complex values, but got 'tensor<2xi32>'}}
  %0 = tcp.divf %arg0, %arg1 : tensor<2xi32>, tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @divf_in2_type(%arg0: tensor<2xf32>, %arg1: tensor<2xi32>) {
  // expected-error @below {{'tcp.divf' op operand #1 must be ranked tensor of floating-point or complex values, but got 'tensor<2xi32>'}}
  %0 = tcp.divf %arg0, %arg1 : tensor<2xf32>, tensor<2xi32> -> tensor<2xf32>
  return
}

// -----

func.func @divf_result_type(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) {
  // expected-error @below {{'tcp.divf' op result #0 must be ranked tensor of floating-point or complex values, but got 'tensor<2xi32>'}}
  %0 = tcp.divf %arg0, %arg1 : tensor<2xf32>, tensor<2xf32> -> tensor<2xi32>
  return
}

// -----

func.func @divf_shape(%arg0: tensor<2xf32>, %arg1: tensor<3xf32>) {
  // expected-error @below {{'tcp.divf' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.divf %arg0, %arg1 : tensor<2xf32>, tensor<3xf32> -> tensor<2xf32>
  return
}

// -----

func.func @divf_element_type(%arg0: tensor<2xf32>, %arg1: tensor<2xf64>) {
  // expected-error @below {{'tcp.divf' op requires the same element type for all operands and results}}
  %0 = tcp.divf %arg0, %arg1 : tensor<2xf32>, tensor<2xf64> -> tensor<2xf32>
  return
}

// -----

func.func @remf_in1_type(%arg0: tensor<2xi32>, %arg1: tensor<2xf32>) {
  // expected-error @below {{'tcp.remf' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.remf %arg0, %arg1 : tensor<2xi32>, tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @remf_in2_type(%arg0: tensor<2xf32>, %arg1: tensor<2xi32>) {
  // expected-error @below {{'tcp.remf' op operand #1 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.remf %arg0, %arg1 : tensor<2xf32>, tensor<2xi32> -> tensor<2xf32>
  return
}

// -----

func.func @remf_result_type(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) {
  // expected-error @below {{'tcp.remf' op result #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.remf %arg0, %arg1 : tensor<2xf32>, tensor<2xf32> -> tensor<2xi32>
  return
}

// -----

func.func @remf_shape(%arg0: tensor<2xf32>, %arg1: tensor<3xf32>) {
  // expected-error @below {{'tcp.remf' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.remf %arg0, %arg1 : tensor<2xf32>, tensor<3xf32> -> tensor<2xf32>
  return
}

// -----

func.func @remf_element_type(%arg0: tensor<2xf32>, %arg1: tensor<2xf64>) {
  // expected-error @below {{'tcp.remf' op requires the same element type for all operands and results}}
  %0 = tcp.remf %arg0, %arg1 : tensor<2xf32>, tensor<2xf64> -> tensor<2xf32>
  return
}

// -----

func.func @atan2_in1_type(%arg0: tensor<2xi32>, %arg1: tensor<2xf32>) {
  // expected-error @below {{'tcp.atan2' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.atan2 %arg0, %arg1 : tensor<2xi32>, tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @atan2_in2_type(%arg0: tensor<2xf32>, %arg1: tensor<2xi32>) {
  // expected-error @below {{'tcp.atan2' op operand #1 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.atan2 %arg0, %arg1 : tensor<2xf32>, tensor<2xi32> -> tensor<2xf32>
  return
}

// -----

func.func @atan2_result_type(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) {
  // expected-error @below {{'tcp.atan2' op result #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.atan2 %arg0, %arg1 : tensor<2xf32>, tensor<2xf32> -> tensor<2xi32>
  return
}

// -----

func.func @atan2_shape(%arg0: tensor<2xf32>, %arg1: tensor<3xf32>) {
  // expected-error @below {{'tcp.atan2' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.atan2 %arg0, %arg1 : tensor<2xf32>, tensor<3xf32> -> tensor<2xf32>
  return
}

// -----

func.func @atan2_element_type(%arg0: tensor<2xf32>, %arg1: tensor<2xf64>) {
  // expected-error @below {{'tcp.atan2' op requires the same element type for all operands and results}}
  %0 = tcp.atan2 %arg0, %arg1 : tensor<2xf32>, tensor<2xf64> -> tensor<2xf32>
  return
}

// -----

func.func @copysign_in1_type(%arg0: tensor<2xi32>, %arg1: tensor<2xf32>) {
  // expected-error @below {{'tcp.copysign' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.copysign %arg0, %arg1 : tensor<2xi32>, tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @copysign_in2_type(%arg0: tensor<2xf32>, %arg1: tensor<2xi32>) {
  // expected-error @below {{'tcp.copysign' op operand #1 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.copysign %arg0, %arg1 : tensor<2xf32>, tensor<2xi32> -> tensor<2xf32>
  return
}

// -----

func.func @copysign_result_type(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) {
  // expected-error @below {{'tcp.copysign' op result #0 must be ranked tensor of floating-point values, but got 'tensor<2xi32>'}}
  %0 = tcp.copysign %arg0, %arg1 : tensor<2xf32>, tensor<2xf32> -> tensor<2xi32>
  return
}

// -----

func.func @copysign_shape(%arg0: tensor<2xf32>, %arg1: tensor<3xf32>) {
  // expected-error @below {{'tcp.copysign' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.copysign %arg0, %arg1 : tensor<2xf32>, tensor<3xf32> -> tensor<2xf32>
  return
}

// -----

func.func @copysign_element_type(%arg0: tensor<2xf32>, %arg1: tensor<2xf64>) {
  // expected-error @below {{'tcp.copysign' op requires the same element type for all operands and results}}
  %0 = tcp.copysign %arg0, %arg1 : tensor<2xf32>, tensor<2xf64> -> tensor<2xf32>
  return
}

// -----

// Quotients of integers, rounded in a stated way.

func.func @divsi_in1_type(%arg0: tensor<?xf32>, %arg1: tensor<?xf32>) {
  // expected-error @below {{'tcp.divsi' op operand #0 must be ranked tensor of signless integer values, but got 'tensor<?xf32>'}}
  %0 = tcp.divsi %arg0, %arg1 : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  return
}

// -----

func.func @divsi_in2_type(%arg0: tensor<?xi8>, %arg1: tensor<?xf32>) {
  // expected-error @below {{'tcp.divsi' op operand #1 must be ranked tensor of signless integer values, but got 'tensor<?xf32>'}}
  %0 = tcp.divsi %arg0, %arg1 {rounding_mode = #tcp<rounding_mode Trunc>} : tensor<?xi8>, tensor<?xf32> -> tensor<?xi8>
  return
}

// -----

func.func @divsi_result_type(%arg0: tensor<?xi8>, %arg1: tensor<?xi8>) {
  // expected-error @below {{'tcp.divsi' op result #0 must be ranked tensor of signless integer values, but got 'tensor<?xf32>'}}
  %0 = tcp.divsi %arg0, %arg1 {rounding_mode = #tcp<rounding_mode Trunc>} : tensor<?xi8>, tensor<?xi8> -> tensor<?xf32>
  return
}

// -----

func.func @divsi_shape(%arg0: tensor<?xi8>, %arg1: tensor<?xi8>) {
  // expected-error @below {{'tcp.divsi' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.divsi %arg0, %arg1 {rounding_mode = #tcp<rounding_mode Trunc>} : tensor<?xi8>, tensor<?xi8> -> tensor<7x3xi8>
  return
}

// -----

func.func @divsi_element_type(%arg0: tensor<?xi8>, %arg1: tensor<?xi8>) {
  // expected-error @below {{'tcp.divsi' op requires the same element type for all operands and results}}
  %0 = tcp.divsi %arg0, %arg1 {rounding_mode = #tcp<rounding_mode Trunc>} : tensor<?xi8>, tensor<?xi8> -> tensor<?xi16>
  return
}

// -----

// There is no rounding mode that goes without saying.
func.func @divsi_without_rounding_mode(%arg0: tensor<?xi8>, %arg1: tensor<?xi8>) {
  // expected-error @below {{'tcp.divsi' op requires attribute 'rounding_mode'}}
  %0 = tcp.divsi %arg0, %arg1 : tensor<?xi8>, tensor<?xi8> -> tensor<?xi8>
  return
}

// -----

func.func @divsi_rounding_mode_type(%arg0: tensor<?xi8>, %arg1: tensor<?xi8>) {
  // expected-error @below {{'tcp.divsi' op attribute 'rounding_mode' failed to satisfy constraint: rounding_mode attribute, one of Trunc, Floor, Ceil}}
  %0 = tcp.divsi %arg0, %arg1 {rounding_mode = 1} : tensor<?xi8>, tensor<?xi8> -> tensor<?xi8>
  return
}

// -----

func.func @divui_in1_type(%arg0: tensor<?xf32>, %arg1: tensor<?xf32>) {
  // expected-error @below {{'tcp.divui' op operand #0 must be ranked tensor of signless integer values, but got 'tensor<?xf32>'}}
  %0 = tcp.divui %arg0, %arg1 : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  return
}

// -----

func.func @divui_in2_type(%arg0: tensor<?xi8>, %arg1: tensor<?xf32>) {
  // expected-error @below {{'tcp.divui' op operand #1 must be ranked tensor of signless integer values, but got 'tensor<?xf32>'}}
  %0 = tcp.divui %arg0, %arg1 {rounding_mode = #tcp<rounding_mode Trunc>} : tensor<?xi8>, tensor<?xf32> -> tensor<?xi8>
  return
}

// -----

func.func @divui_result_type(%arg0: tensor<?xi8>, %arg1: tensor<?xi8>) {
  // expected-error @below {{'tcp.divui' op result #0 must be ranked tensor of signless integer values, but got 'tensor<?xf32>'}}
  %0 = tcp.divui %arg0, %arg1 {rounding_mode = #tcp<rounding_mode Trunc>} : tensor<?xi8>, tensor<?xi8> -> tensor<?xf32>
  return
}

// -----

func.func @divui_shape(%arg0: tensor<?xi8>, %arg1: tensor<?xi8>) {
  // expected-error @below {{'tcp.divui' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.divui %arg0, %arg1 {rounding_mode = #tcp<rounding_mode Trunc>} : tensor<?xi8>, tensor<?xi8> -> tensor<7x3xi8>
  return
}

// -----

func.func @divui_element_type(%arg0: tensor<?xi8>, %arg1: tensor<?xi8>) {
  // expected-error @below {{'tcp.divui' op requires the same element type for all operands and results}}
  %0 = tcp.divui %arg0, %arg1 {rounding_mode = #tcp<rounding_mode Trunc>} : tensor<?xi8>, tensor<?xi8> -> tensor<?xi16>
  return
}

// -----

func.func @divui_without_rounding_mode(%arg0: tensor<?xi8>, %arg1: tensor<?xi8>) {
  // expected-error @below {{'tcp.divui' op requires attribute 'rounding_mode'}}
  %0 = tcp.divui %arg0, %arg1 : tensor<?xi8>, tensor<?xi8> -> tensor<?xi8>
  return
}

// -----

func.func @divui_rounding_mode_type(%arg0: tensor<?xi8>, %arg1: tensor<?xi8>) {
  // expected-error @below {{'tcp.divui' op attribute 'rounding_mode' failed to satisfy constraint: rounding_mode attribute, one of Trunc, Floor, Ceil}}
  %0 = tcp.divui %arg0, %arg1 {rounding_mode = 1} : tensor<?xi8>, tensor<?xi8> -> tensor<?xi8>
  return
}

// -----

// Functions of two integers.

func.func @remsi_in1_type(%arg0: tensor<?xf32>, %arg1: tensor<?xf32>) {
  // expected-error @below {{'tcp.remsi' op operand #0 must be ranked tensor of signless integer values, but got 'tensor<?xf32>'}}
  %0 = tcp.remsi %arg0, %arg1 : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  return
}

// -----

func.func @remsi_in2_type(%arg0: tensor<?xi8>, %arg1: tensor<?xf32>) {
  // expected-error @below {{'tcp.remsi' op operand #1 must be ranked tensor of signless integer values, but got 'tensor<?xf32>'}}
  %0 = tcp.remsi %arg0, %arg1 : tensor<?xi8>, tensor<?xf32> -> tensor<?xi8>
  return
}

// -----

func.func @remsi_result_type(%arg0: tensor<?xi8>, %arg1: tensor<?xi8>) {
  // expected-error @below {{'tcp.remsi' op result #0 must be ranked tensor of signless integer values, but got 'tensor<?xf32>'}}
  %0 = tcp.remsi %arg0, %arg1 : tensor<?xi8>, tensor<?xi8> -> tensor<?xf32>
  return
}

// -----

func.func @remsi_shape(%arg0: tensor<?xi8>, %arg1: tensor<?x?xi8>) {
  // expected-error @below {{'tcp.remsi' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.remsi %arg0, %arg1 : tensor<?xi8>, tensor<?x?xi8> -> tensor<?xi8>
  return
}

// -----

func.func @remsi_element_type(%arg0: tensor<?xi8>, %arg1: tensor<?xi16>) {
  // expected-error @below {{'tcp.remsi' op requires the same element type for all operands and results}}
  %0 = tcp.remsi %arg0, %arg1 : tensor<?xi8>, tensor<?xi16> -> tensor<?xi8>
  return
}

// -----

func.func @remui_in1_type(%arg0: tensor<?xf32>, %arg1: tensor<?xf32>) {
  // expected-error @below {{'tcp.remui' op operand #0 must be ranked tensor of signless integer values, but got 'tensor<?xf32>'}}
  %0 = tcp.remui %arg0, %arg1 : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  return
}

// -----

func.func @remui_in2_type(%arg0: tensor<?xi8>, %arg1: tensor<?xf32>) {
  // expected-error @below {{'tcp.remui' op operand #1 must be ranked tensor of signless integer values, but got 'tensor<?xf32>'}}
  %0 = tcp.remui %arg0, %arg1 : tensor<?xi8>, tensor<?xf32> -> tensor<?xi8>
  return
}

// -----

func.func @remui_result_type(%arg0: tensor<?xi8>, %arg1: tensor<?xi8>) {
  // expected-error @below {{'tcp.remui' op result #0 must be ranked tensor of signless integer values, but got 'tensor<?xf32>'}}
  %0 = tcp.remui %arg0, %arg1 : tensor<?xi8>, tensor<?xi8> -> tensor<?xf32>
  return
}

// -----

func.func @remui_shape(%arg0: tensor<?xi8>, %arg1: tensor<?x?xi8>) {
  // expected-error @below {{'tcp.remui' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.remui %arg0, %arg1 : tensor<?xi8>, tensor<?x?xi8> -> tensor<?xi8>
  return
}

// -----

func.func @remui_element_type(%arg0: tensor<?xi8>, %arg1: tensor<?xi16>) {
  // expected-error @below {{'tcp.remui' op requires the same element type for all operands and results}}
  %0 = tcp.remui %arg0, %arg1 : tensor<?xi8>, tensor<?xi16> -> tensor<?xi8>
  return
}

// -----

func.func @bitwise_and_in1_type(%arg0: tensor<?xf32>, %arg1: tensor<?xf32>) {
  // expected-error @below {{'tcp.bitwise_and' op operand #0 must be ranked tensor of signless integer values, but got 'tensor<?xf32>'}}
  %0 = tcp.bitwise_and %arg0, %arg1 : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  return
}

// -----

func.func @bitwise_and_in2_type(%arg0: tensor<?xi8>, %arg1: tensor<?xf32>) {
  // expected-error @below {{'tcp.bitwise_and' op operand #1 must be ranked tensor of signless integer values, but got 'tensor<?xf32>'}}
  %0 = tcp.bitwise_and %arg0, %arg1 : tensor<?xi8>, tensor<?xf32> -> tensor<?xi8>
  return
}

// -----

func.func @bitwise_and_result_type(%arg0: tensor<?xi8>, %arg1: tensor<?xi8>) {
  // expected-error @below {{'tcp.bitwise_and' op result #0 must be ranked tensor of signless integer values, but got 'tensor<?xf32>'}}
  %0 = tcp.bitwise_and %arg0, %arg1 : tensor<?xi8>, tensor<?xi8> -> tensor<?xf32>
  return
}

// -----

func.func @bitwise_and_shape(%arg0: tensor<?xi8>, %arg1: tensor<?x?xi8>) {
  // expected-error @below {{'tcp.bitwise_and' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.bitwise_and %arg0, %arg1 : tensor<?xi8>, tensor<?x?xi8> -> tensor<?xi8>
  return
}

// -----

func.func @bitwise_and_element_type(%arg0: tensor<?xi8>, %arg1: tensor<?xi16>) {
  // expected-error @below {{'tcp.bitwise_and' op requires the same element type for all operands and results}}
  %0 = tcp.bitwise_and %arg0, %arg1 : tensor<?xi8>, tensor<?xi16> -> tensor<?xi8>
  return
}

// -----

func.func @bitwise_or_in1_type(%arg0: tensor<?xf32>, %arg1: tensor<?xf32>) {
  // expected-error @below {{'tcp.bitwise_or' op operand #0 must be ranked tensor of signless integer values, but got 'tensor<?xf32>'}}
  %0 = tcp.bitwise_or %arg0, %arg1 : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  return
}

// -----

func.func @bitwise_or_in2_type(%arg0: tensor<?xi8>, %arg1: tensor<?xf32>) {
  // expected-error @below {{'tcp.bitwise_or' op operand #1 must be ranked tensor of signless integer values, but got 'tensor<?xf32>'}}
  %0 = tcp.bitwise_or %arg0, %arg1 : tensor<?xi8>, tensor<?xf32> -> tensor<?xi8>
  return
}

// -----

func.func @bitwise_or_result_type(%arg0: tensor<?xi8>, %arg1: tensor<?xi8>) {
  // expected-error @below {{'tcp.bitwise_or' op result #0 must be ranked tensor of signless integer values, but got 'tensor<?xf32>'}}
  %0 = tcp.bitwise_or %arg0, %arg1 : tensor<?xi8>, tensor<?xi8> -> tensor<?xf32>
  return
}

// -----

func.func @bitwise_or_shape(%arg0: tensor<?xi8>, %arg1: tensor<?x?xi8>) {
  // expected-error @below {{'tcp.bitwise_or' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.bitwise_or %arg0, %arg1 : tensor<?xi8>, tensor<?x?xi8> -> tensor<?xi8>
  return
}

// -----

func.func @bitwise_or_element_type(%arg0: tensor<?xi8>, %arg1: tensor<?xi16>) {
  // expected-error @below {{'tcp.bitwise_or' op requires the same element type for all operands and results}}
  %0 = tcp.bitwise_or %arg0, %arg1 : tensor<?xi8>, tensor<?xi16> -> tensor<?xi8>
  return
}

// -----

func.func @bitwise_xor_in1_type(%arg0: tensor<?xf32>, %arg1: tensor<?xf32>) {
  // expected-error @below {{'tcp.bitwise_xor' op operand #0 must be ranked tensor of signless integer values, but got 'tensor<?xf32>'}}
  %0 = tcp.bitwise_xor %arg0, %arg1 : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  return
}

// -----

func.func @bitwise_xor_in2_type(%arg0: tensor<?xi8>, %arg1: tensor<?xf32>) {
  // expected-error @below {{'tcp.bitwise_xor' op operand #1 must be ranked tensor of signless integer values, but got 'tensor<?xf32>'}}
  %0 = tcp.bitwise_xor %arg0, %arg1 : tensor<?xi8>, tensor<?xf32> -> tensor<?xi8>
  return
}

// -----

func.func @bitwise_xor_result_type(%arg0: tensor<?xi8>, %arg1: tensor<?xi8>) {
  // expected-error @below {{'tcp.bitwise_xor' op result #0 must be ranked tensor of signless integer values, but got 'tensor<?xf32>'}}
  %0 = tcp.bitwise_xor %arg0, %arg1 : tensor<?xi8>, tensor<?xi8> -> tensor<?xf32>
  return
}

// -----

func.func @bitwise_xor_shape(%arg0: tensor<?xi8>, %arg1: tensor<?x?xi8>) {
  // expected-error @below {{'tcp.bitwise_xor' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.bitwise_xor %arg0, %arg1 : tensor<?xi8>, tensor<?x?xi8> -> tensor<?xi8>
  return
}

// -----

func.func @bitwise_xor_element_type(%arg0: tensor<?xi8>, %arg1: tensor<?xi16>) {
  // expected-error @below {{'tcp.bitwise_xor' op requires the same element type for all operands and results}}
  %0 = tcp.bitwise_xor %arg0, %arg1 : tensor<?xi8>, tensor<?xi16> -> tensor<?xi8>
  return
}

// -----

func.func @shli_in1_type(%arg0: tensor<?xf32>, %arg1: tensor<?xf32>) {
  // expected-error @below {{'tcp.shli' op operand #0 must be ranked tensor of signless integer values, but got 'tensor<?xf32>'}}
  %0 = tcp.shli %arg0, %arg1 : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  return
}

// -----

func.func @shli_in2_type(%arg0: tensor<?xi8>, %arg1: tensor<?xf32>) {
  // expected-error @below {{'tcp.shli' op operand #1 must be ranked tensor of signless integer values, but got 'tensor<?xf32>'}}
  %0 = tcp.shli %arg0, %arg1 : tensor<?xi8>, tensor<?xf32> -> tensor<?xi8>
  return
}

// -----

func.func @shli_result_type(%arg0: tensor<?xi8>, %arg1: tensor<?xi8>) {
  // expected-error @below {{'tcp.shli' op result #0 must be ranked tensor of signless integer values, but got 'tensor<?xf32>'}}
  %0 = tcp.shli %arg0, %arg1 : tensor<?xi8>, tensor<?xi8> -> tensor<?xf32>
  return
}

// -----

func.func @shli_shape(%arg0: tensor<?xi8>, %arg1: tensor<?x?xi8>) {
  // expected-error @below {{'tcp.shli' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.shli %arg0, %arg1 : tensor<?xi8>, tensor<?x?xi8> -> tensor<?xi8>
  return
}

// -----

func.func @shli_element_type(%arg0: tensor<?xi8>, %arg1: tensor<?xi16>) {
  // expected-error @below {{'tcp.shli' op requires the same element type for all operands and results}}
  %0 = tcp.shli %arg0, %arg1 : tensor<?xi8>, tensor<?xi16> -> tensor<?xi8>
  return
}

// -----

func.func @shrsi_in1_type(%arg0: tensor<?xf32>, %arg1: tensor<?xf32>) {
  // expected-error @below {{'tcp.shrsi' op operand #0 must be ranked tensor of signless integer values, but got 'tensor<?xf32>'}}
  %0 = tcp.shrsi %arg0, %arg1 : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  return
}

// -----

func.func @shrsi_in2_type(%arg0: tensor<?xi8>, %arg1: tensor<?xf32>) {
  // expected-error @below {{'tcp.shrsi' op operand #1 must be ranked tensor of signless integer values, but got 'tensor<?xf32>'}}
  %0 = tcp.shrsi %arg0, %arg1 : tensor<?xi8>, tensor<?xf32> -> tensor<?xi8>
  return
}

// -----

func.func @shrsi_result_type(%arg0: tensor<?xi8>, %arg1: tensor<?xi8>) {
  // expected-error @below {{'tcp.shrsi' op result #0 must be ranked tensor of signless integer values, but got 'tensor<?xf32>'}}
  %0 = tcp.shrsi %arg0, %arg1 : tensor<?xi8>, tensor<?xi8> -> tensor<?xf32>
  return
}

// -----

func.func @shrsi_shape(%arg0: tensor<?xi8>, %arg1: tensor<?x?xi8>) {
  // expected-error @below {{'tcp.shrsi' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.shrsi %arg0, %arg1 : tensor<?xi8>, tensor<?x?xi8> -> tensor<?xi8>
  return
}

// -----

func.func @shrsi_element_type(%arg0: tensor<?xi8>, %arg1: tensor<?xi16>) {
  // expected-error @below {{'tcp.shrsi' op requires the same element type for all operands and results}}
  %0 = tcp.shrsi %arg0, %arg1 : tensor<?xi8>, tensor<?xi16> -> tensor<?xi8>
  return
}

// -----

func.func @shrui_in1_type(%arg0: tensor<?xf32>, %arg1: tensor<?xf32>) {
  // expected-error @below {{'tcp.shrui' op operand #0 must be ranked tensor of signless integer values, but got 'tensor<?xf32>'}}
  %0 = tcp.shrui %arg0, %arg1 : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  return
}

// -----

func.func @shrui_in2_type(%arg0: tensor<?xi8>, %arg1: tensor<?xf32>) {
  // expected-error @below {{'tcp.shrui' op operand #1 must be ranked tensor of signless integer values, but got 'tensor<?xf32>'}}
  %0 = tcp.shrui %arg0, %arg1 : tensor<?xi8>, tensor<?xf32> -> tensor<?xi8>
  return
}

// -----

func.func @shrui_result_type(%arg0: tensor<?xi8>, %arg1: tensor<?xi8>) {
  // expected-error @below {{'tcp.shrui' op result #0 must be ranked tensor of signless integer values, but got 'tensor<?xf32>'}}
  %0 = tcp.shrui %arg0, %arg1 : tensor<?xi8>, tensor<?xi8> -> tensor<?xf32>
  return
}

// -----

func.func @shrui_shape(%arg0: tensor<?xi8>, %arg1: tensor<?x?xi8>) {
  // expected-error @below {{'tcp.shrui' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.shrui %arg0, %arg1 : tensor<?xi8>, tensor<?x?xi8> -> tensor<?xi8>
  return
}

// -----

func.func @shrui_element_type(%arg0: tensor<?xi8>, %arg1: tensor<?xi16>) {
  // expected-error @below {{'tcp.shrui' op requires the same element type for all operands and results}}
  %0 = tcp.shrui %arg0, %arg1 : tensor<?xi8>, tensor<?xi16> -> tensor<?xi8>
  return
}

// -----

// Functions of two truth values.

func.func @logical_and_in1_type(%arg0: tensor<?xi8>, %arg1: tensor<?xi1>) {
  // expected-error @below {{'tcp.logical_and' op operand #0 must be ranked tensor of 1-bit signless integer values, but got 'tensor<?xi8>'}}
  %0 = tcp.logical_and %arg0, %arg1 : tensor<?xi8>, tensor<?xi1> -> tensor<?xi1>
  return
}

// -----

func.func @logical_and_in2_type(%arg0: tensor<?xi1>, %arg1: tensor<?xi8>) {
  // expected-error @below {{'tcp.logical_and' op operand #1 must be ranked tensor of 1-bit signless integer values, but got 'tensor<?xi8>'}}
  %0 = tcp.logical_and %arg0, %arg1 : tensor<?xi1>, tensor<?xi8> -> tensor<?xi1>
  return
}

// -----

func.func @logical_and_result_type(%arg0: tensor<?xi1>, %arg1: tensor<?xi1>) {
  // expected-error @below {{'tcp.logical_and' op result #0 must be ranked tensor of 1-bit signless integer values, but got 'tensor<?xi8>'}}
  %0 = tcp.logical_and %arg0, %arg1 : tensor<?xi1>, tensor<?xi1> -> tensor<?xi8>
  return
}

// -----

func.func @logical_and_shape(%arg0: tensor<?xi1>, %arg1: tensor<?xi1>) {
  // expected-error @below {{'tcp.logical_and' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.logical_and %arg0, %arg1 : tensor<?xi1>, tensor<?xi1> -> tensor<i1>
  return
}

// -----

func.func @logical_or_in1_type(%arg0: tensor<?xi8>, %arg1: tensor<?xi1>) {
  // expected-error @below {{'tcp.logical_or' op operand #0 must be ranked tensor of 1-bit signless integer values, but got 'tensor<?xi8>'}}
  %0 = tcp.logical_or %arg0, %arg1 : tensor<?xi8>, tensor<?xi1> -> tensor<?xi1>
  return
}

// -----

func.func @logical_or_in2_type(%arg0: tensor<?xi1>, %arg1: tensor<?xi8>) {
  // expected-error @below {{'tcp.logical_or' op operand #1 must be ranked tensor of 1-bit signless integer values, but got 'tensor<?xi8>'}}
  %0 = tcp.logical_or %arg0, %arg1 : tensor<?xi1>, tensor<?xi8> -> tensor<?xi1>
  return
}

// -----

func.func @logical_or_result_type(%arg0: tensor<?xi1>, %arg1: tensor<?xi1>) {
  // expected-error @below {{'tcp.logical_or' op result #0 must be ranked tensor of 1-bit signless integer values, but got 'tensor<?xi8>'}}
  %0 = tcp.logical_or %arg0, %arg1 : tensor<?xi1>, tensor<?xi1> -> tensor<?xi8>
  return
}

// -----

func.func @logical_or_shape(%arg0: tensor<?xi1>, %arg1: tensor<?xi1>) {
  // expected-error @below {{'tcp.logical_or' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.logical_or %arg0, %arg1 : tensor<?xi1>, tensor<?xi1> -> tensor<i1>
  return
}

// -----

func.func @logical_xor_in1_type(%arg0: tensor<?xi8>, %arg1: tensor<?xi1>) {
  // expected-error @below {{'tcp.logical_xor' op operand #0 must be ranked tensor of 1-bit signless integer values, but got 'tensor<?xi8>'}}
  %0 = tcp.logical_xor %arg0, %arg1 : tensor<?xi8>, tensor<?xi1> -> tensor<?xi1>
  return
}

// -----

func.func @logical_xor_in2_type(%arg0: tensor<?xi1>, %arg1: tensor<?xi8>) {
  // expected-error @below {{'tcp.logical_xor' op operand #1 must be ranked tensor of 1-bit signless integer values, but got 'tensor<?xi8>'}}
  %0 = tcp.logical_xor %arg0, %arg1 : tensor<?xi1>, tensor<?xi8> -> tensor<?xi1>
  return
}

// -----

func.func @logical_xor_result_type(%arg0: tensor<?xi1>, %arg1: tensor<?xi1>) {
  // expected-error @below {{'tcp.logical_xor' op result #0 must be ranked tensor of 1-bit signless integer values, but got 'tensor<?xi8>'}}
  %0 = tcp.logical_xor %arg0, %arg1 : tensor<?xi1>, tensor<?xi1> -> tensor<?xi8>
  return
}

// -----

func.func @logical_xor_shape(%arg0: tensor<?xi1>, %arg1: tensor<?xi1>) {
  // expected-error @below {{'tcp.logical_xor' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.logical_xor %arg0, %arg1 : tensor<?xi1>, tensor<?xi1> -> tensor<i1>
  return
}

// -----

// Functions of two numbers.

func.func @add_in1_type(%arg0: index, %arg1: tensor<2xi8>) {
  // expected-error @below {{'tcp.add' op operand #0 must be ranked tensor of floating-point, signless integer, complex or quantized values, but got 'index'}}
  %0 = tcp.add %arg0, %arg1 : index, tensor<2xi8> -> tensor<2xi8>
  return
}

// -----

func.func @add_in2_type(%arg0: tensor<f16>, %arg1: tensor<index>) {
  // expected-error @below {{'tcp.add' op operand #1 must be ranked tensor of floating-point, signless integer, complex or quantized values, but got 'tensor<index>'}}
  %0 = tcp.add %arg0, %arg1 : tensor<f16>, tensor<index> -> tensor<f16>
  return
}

// -----

func.func @add_result_type(%arg0: tensor<f16>, %arg1: tensor<f16>) {
  // expected-error @below {{'tcp.add' op result #0 must be ranked tensor of floating-point, signless integer, complex or quantized values, but got 'tensor<index>'}}
  %0 = tcp.add %arg0, %arg1 : tensor<f16>, tensor<f16> -> tensor<index>
  return
}

// -----

func.func @add_operands_shape(%arg0: tensor<2xi8>, %arg1: tensor<2x2xi8>) {
  // expected-error @below {{'tcp.add' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.add %arg0, %arg1 : tensor<2xi8>, tensor<2x2xi8> -> tensor<2xi8>
  return
}

// -----

// A dynamic size goes with any other, but 2 and 3 do not go together.
func.func @add_result_shape(%arg0: tensor<?xi8>, %arg1: tensor<2xi8>) {
  // expected-error @below {{'tcp.add' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.add %arg0, %arg1 : tensor<?xi8>, tensor<2xi8> -> tensor<3xi8>
  return
}

// -----

func.func @add_element_type(%arg0: tensor<2xi8>, %arg1: tensor<2xi16>) {
  // expected-error @below {{'tcp.add' op requires the same element type for all operands and results}}
  %0 = tcp.add %arg0, %arg1 : tensor<2xi8>, tensor<2xi16> -> tensor<2xi8>
  return
}

// -----

func.func @sub_in1_type(%arg0: index, %arg1: tensor<2xi8>) {
  // expected-error @below {{'tcp.sub' op operand #0 must be ranked tensor of floating-point, signless integer, complex or quantized values, but got 'index'}}
  %0 = tcp.sub %arg0, %arg1 : index, tensor<2xi8> -> tensor<2xi8>
  return
}

// -----

func.func @sub_in2_type(%arg0: tensor<f16>, %arg1: tensor<index>) {
  // expected-error @below {{'tcp.sub' op operand #1 must be ranked tensor of floating-point, signless integer, complex or quantized values, but got 'tensor<index>'}}
  %0 = tcp.sub %arg0, %arg1 : tensor<f16>, tensor<index> -> tensor<f16>
  return
}

// -----

func.func @sub_result_type(%arg0: tensor<f16>, %arg1: tensor<f16>) {
  // expected-error @below {{'tcp.sub' op result #0 must be ranked tensor of floating-point, signless integer, complex or quantized values, but got 'tensor<index>'}}
  %0 = tcp.sub %arg0, %arg1 : tensor<f16>, tensor<f16> -> tensor<index>
  return
}

// -----

func.func @sub_shape(%arg0: tensor<2xi8>, %arg1: tensor<2x2xi8>) {
  // expected-error @below {{'tcp.sub' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.sub %arg0, %arg1 : tensor<2xi8>, tensor<2x2xi8> -> tensor<2xi8>
  return
}

// -----

func.func @sub_element_type(%arg0: tensor<2xi8>, %arg1: tensor<2xi16>) {
  // expected-error @below {{'tcp.sub' op requires the same element type for all operands and results}}
  %0 = tcp.sub %arg0, %arg1 : tensor<2xi8>, tensor<2xi16> -> tensor<2xi8>
  return
}

// -----

func.func @mul_in1_type(%arg0: index, %arg1: tensor<2xi8>) {
  // expected-error @below {{'tcp.mul' op operand #0 must be ranked tensor of floating-point, signless integer or complex values, but got 'index'}}
  %0 = tcp.mul %arg0, %arg1 : index, tensor<2xi8> -> tensor<2xi8>
  return
}

// -----

func.func @mul_in2_type(%arg0: tensor<f16>, %arg1: tensor<index>) {
  // expected-error @below {{'tcp.mul' op operand #1 must be ranked tensor of floating-point, signless integer or complex values, but got 'tensor<index>'}}
  %0 = tcp.mul %arg0, %arg1 : tensor<f16>, tensor<index> -> tensor<f16>
  return
}

// -----

func.func @mul_result_type(%arg0: tensor<f16>, %arg1: tensor<f16>) {
  // expected-error @below {{'tcp.mul' op result #0 must be ranked tensor of floating-point, signless integer or complex values, but got 'tensor<index>'}}
  %0 = tcp.mul %arg0, %arg1 : tensor<f16>, tensor<f16> -> tensor<index>
  return
}

// -----

func.func @mul_shape(%arg0: tensor<2xi8>, %arg1: tensor<2x2xi8>) {
  // expected-error @below {{'tcp.mul' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.mul %arg0, %arg1 : tensor<2xi8>, tensor<2x2xi8> -> tensor<2xi8>
  return
}

// -----

func.func @mul_element_type(%arg0: tensor<2xi8>, %arg1: tensor<2xi16>) {
  // expected-error @below {{'tcp.mul' op requires the same element type for all operands and results}}
  %0 = tcp.mul %arg0, %arg1 : tensor<2xi8>, tensor<2xi16> -> tensor<2xi8>
  return
}

// -----

func.func @pow_in1_type(%arg0: index, %arg1: tensor<2xi8>) {
  // expected-error @below {{'tcp.pow' op operand #0 must be ranked tensor of floating-point or signless integer values, but got 'index'}}
  %0 = tcp.pow %arg0, %arg1 : index, tensor<2xi8> -> tensor<2xi8>
  return
}

// -----

func.func @pow_in2_type(%arg0: tensor<f16>, %arg1: tensor<index>) {
  // expected-error @below {{'tcp.pow' op operand #1 must be ranked tensor of floating-point or signless integer values, but got 'tensor<index>'}}
  %0 = tcp.pow %arg0, %arg1 : tensor<f16>, tensor<index> -> tensor<f16>
  return
}

// -----

func.func @pow_result_type(%arg0: tensor<f16>, %arg1: tensor<f16>) {
  // expected-error @below {{'tcp.pow' op result #0 must be ranked tensor of floating-point or signless integer values, but got 'tensor<index>'}}
  %0 = tcp.pow %arg0, %arg1 : tensor<f16>, tensor<f16> -> tensor<index>
  return
}

// -----

func.func @pow_shape(%arg0: tensor<2xi8>, %arg1: tensor<2x2xi8>) {
  // expected-error @below {{'tcp.pow' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.pow %arg0, %arg1 : tensor<2xi8>, tensor<2x2xi8> -> tensor<2xi8>
  return
}

// -----

func.func @pow_element_type(%arg0: tensor<2xi8>, %arg1: tensor<2xi16>) {
  // expected-error @below {{'tcp.pow' op requires the same element type for all operands and results}}
  %0 = tcp.pow %arg0, %arg1 : tensor<2xi8>, tensor<2xi16> -> tensor<2xi8>
  return
}

// -----

// Functions of two numbers that depend on what sign integers are taken to have.

func.func @maximum_in1_type(%arg0: index, %arg1: tensor<2xi8>) {
  // expected-error @below {{'tcp.maximum' op operand #0 must be ranked tensor of floating-point or signless integer values, but got 'index'}}
  %0 = tcp.maximum %arg0, %arg1 : index, tensor<2xi8> -> tensor<2xi8>
  return
}

// -----

func.func @maximum_in2_type(%arg0: tensor<f16>, %arg1: tensor<index>) {
  // expected-error @below {{'tcp.maximum' op operand #1 must be ranked tensor of floating-point or signless integer values, but got 'tensor<index>'}}
  %0 = tcp.maximum %arg0, %arg1 : tensor<f16>, tensor<index> -> tensor<f16>
  return
}

// -----

func.func @maximum_result_type(%arg0: tensor<f16>, %arg1: tensor<f16>) {
  // expected-error @below {{'tcp.maximum' op result #0 must be ranked tensor of floating-point or signless integer values, but got 'tensor<index>'}}
  %0 = tcp.maximum %arg0, %arg1 : tensor<f16>, tensor<f16> -> tensor<index>
  return
}

// -----

func.func @maximum_operands_shape(%arg0: tensor<2xi8>, %arg1: tensor<2x2xi8>) {
  // expected-error @below {{'tcp.maximum' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.maximum %arg0, %arg1 : tensor<2xi8>, tensor<2x2xi8> -> tensor<2xi8>
  return
}

// -----

func.func @maximum_result_shape(%arg0: tensor<?xi8>, %arg1: tensor<2xi8>) {
  // expected-error @below {{'tcp.maximum' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.maximum %arg0, %arg1 : tensor<?xi8>, tensor<2xi8> -> tensor<3xi8>
  return
}

// -----

func.func @maximum_element_type(%arg0: tensor<2xi8>, %arg1: tensor<2xi16>) {
  // expected-error @below {{'tcp.maximum' op requires the same element type for all operands and results}}
  %0 = tcp.maximum %arg0, %arg1 : tensor<2xi8>, tensor<2xi16> -> tensor<2xi8>
  return
}

// -----

func.func @maximum_int_signedness_type(%arg0: tensor<f16>, %arg1: tensor<f16>) {
  // expected-error @below {{'tcp.maximum' op attribute 'int_signedness' failed to satisfy constraint: signedness attribute, one of Signed, Unsigned, Signless}}
  %0 = tcp.maximum %arg0, %arg1 {int_signedness = "Signed"} : tensor<f16>, tensor<f16> -> tensor<f16>
  return
}

// -----

func.func @maximum_int_signedness_of_bool(%arg0: tensor<2xi1>, %arg1: tensor<2xi1>) {
  // expected-error @below {{'tcp.maximum' op attribute 'int_signedness' must be Signless for 'i1', but got Signed}}
  %0 = tcp.maximum %arg0, %arg1 {int_signedness = #tcp<signedness Signed>} : tensor<2xi1>, tensor<2xi1> -> tensor<2xi1>
  return
}

// -----

func.func @maximum_int_signedness_of_float(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) {
  // expected-error @below {{'tcp.maximum' op attribute 'int_signedness' must not be set for the float type 'f32'}}
  %0 = tcp.maximum %arg0, %arg1 {int_signedness = #tcp<signedness Signed>} : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @minimum_in1_type(%arg0: index, %arg1: tensor<2xi8>) {
  // expected-error @below {{'tcp.minimum' op operand #0 must be ranked tensor of floating-point or signless integer values, but got 'index'}}
  %0 = tcp.minimum %arg0, %arg1 : index, tensor<2xi8> -> tensor<2xi8>
  return
}

// -----

func.func @minimum_in2_type(%arg0: tensor<f16>, %arg1: tensor<index>) {
  // expected-error @below {{'tcp.minimum' op operand #1 must be ranked tensor of floating-point or signless integer values, but got 'tensor<index>'}}
  %0 = tcp.minimum %arg0, %arg1 : tensor<f16>, tensor<index> -> tensor<f16>
  return
}

// -----

func.func @minimum_result_type(%arg0: tensor<f16>, %arg1: tensor<f16>) {
  // expected-error @below {{'tcp.minimum' op result #0 must be ranked tensor of floating-point or signless integer values, but got 'tensor<index>'}}
  %0 = tcp.minimum %arg0, %arg1 : tensor<f16>, tensor<f16> -> tensor<index>
  return
}

// -----

func.func @minimum_shape(%arg0: tensor<2xi8>, %arg1: tensor<2x2xi8>) {
  // expected-error @below {{'tcp.minimum' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.minimum %arg0, %arg1 : tensor<2xi8>, tensor<2x2xi8> -> tensor<2xi8>
  return
}

// -----

func.func @minimum_element_type(%arg0: tensor<2xi8>, %arg1: tensor<2xi16>) {
  // expected-error @below {{'tcp.minimum' op requires the same element type for all operands and results}}
  %0 = tcp.minimum %arg0, %arg1 : tensor<2xi8>, tensor<2xi16> -> tensor<2xi8>
  return
}

// -----

func.func @minimum_int_signedness_type(%arg0: tensor<f16>, %arg1: tensor<f16>) {
  // expected-error @below {{'tcp.minimum' op attribute 'int_signedness' failed to satisfy constraint: signedness attribute, one of Signed, Unsigned, Signless}}
  %0 = tcp.minimum %arg0, %arg1 {int_signedness = "Signed"} : tensor<f16>, tensor<f16> -> tensor<f16>
  return
}

// -----

func.func @minimum_int_signedness_of_bool(%arg0: tensor<2xi1>, %arg1: tensor<2xi1>) {
  // expected-error @below {{'tcp.minimum' op attribute 'int_signedness' must be Signless for 'i1', but got Signed}}
  %0 = tcp.minimum %arg0, %arg1 {int_signedness = #tcp<signedness Signed>} : tensor<2xi1>, tensor<2xi1> -> tensor<2xi1>
  return
}

// -----

func.func @minimum_int_signedness_of_float(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) {
  // expected-error @below {{'tcp.minimum' op attribute 'int_signedness' must not be set for the float type 'f32'}}
  %0 = tcp.minimum %arg0, %arg1 {int_signedness = #tcp<signedness Signed>} : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

// Comparison, choice and casts.

func.func @compare_in1_type(%arg0: tensor<?xindex>, %arg1: tensor<?xf32>) {
  // expected-error @below {{'tcp.compare' op operand #0 must be ranked tensor of floating-point or signless integer values, but got 'tensor<?xindex>'}}
  %0 = tcp.compare %arg0, %arg1 {predicate = #tcp<predicate eq>} : tensor<?xindex>, tensor<?xf32> -> tensor<?xi1>
  return
}

// -----

func.func @compare_in2_type(%arg0: tensor<?xf32>, %arg1: tensor<?xindex>) {
  // expected-error @below {{'tcp.compare' op operand #1 must be ranked tensor of floating-point or signless integer values, but got 'tensor<?xindex>'}}
  %0 = tcp.compare %arg0, %arg1 {predicate = #tcp<predicate eq>} : tensor<?xf32>, tensor<?xindex> -> tensor<?xi1>
  return
}

// -----

func.func @compare_result_type(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) {
  // expected-error @below {{'tcp.compare' op result #0 must be ranked tensor of 1-bit signless integer values, but got 'tensor<2xf32>'}}
  %0 = tcp.compare %arg0, %arg1 {predicate = #tcp<predicate lt>} : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @compare_shape(%arg0: tensor<?xf32>, %arg1: tensor<?xf32>) {
  // expected-error @below {{'tcp.compare' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.compare %arg0, %arg1 {predicate = #tcp<predicate eq>} : tensor<?xf32>, tensor<?xf32> -> tensor<7x3xi1>
  return
}

// -----

func.func @compare_without_predicate(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) {
  // expected-error @below {{'tcp.compare' op requires attribute 'predicate'}}
  %0 = tcp.compare %arg0, %arg1 : tensor<2xf32>, tensor<2xf32> -> tensor<2xi1>
  return
}

// -----

func.func @compare_predicate_type(%arg0: tensor<?xf32>, %arg1: tensor<?xf32>) {
  // expected-error @below {{'tcp.compare' op attribute 'predicate' failed to satisfy constraint: predicate attribute, one of eq, ne, lt, le, gt, ge}}
  %0 = tcp.compare %arg0, %arg1 {predicate = "eq"} : tensor<?xf32>, tensor<?xf32> -> tensor<?xi1>
  return
}

// -----

func.func @compare_int_signedness_type(%arg0: tensor<?xf32>, %arg1: tensor<?xf32>) {
  // expected-error @below {{'tcp.compare' op attribute 'int_signedness' failed to satisfy constraint: signedness attribute, one of Signed, Unsigned, Signless}}
  %0 = tcp.compare %arg0, %arg1 {int_signedness = "Signed", predicate = #tcp<predicate eq>} : tensor<?xf32>, tensor<?xf32> -> tensor<?xi1>
  return
}

// -----

func.func @compare_element_type(%arg0: tensor<2xf32>, %arg1: tensor<2xf64>) {
  // expected-error @below {{'tcp.compare' op requires the same element type throughout, but got 'f32' and 'f64'}}
  %0 = tcp.compare %arg0, %arg1 {predicate = #tcp<predicate lt>} : tensor<2xf32>, tensor<2xf64> -> tensor<2xi1>
  return
}

// -----

func.func @compare_int_signedness_of_float(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) {
  // expected-error @below {{'tcp.compare' op attribute 'int_signedness' must not be set for the float type 'f32'}}
  %0 = tcp.compare %arg0, %arg1 {predicate = #tcp<predicate lt>, int_signedness = #tcp<signedness Signed>} : tensor<2xf32>, tensor<2xf32> -> tensor<2xi1>
  return
}

// -----

func.func @fmuladd_in1_type(%arg0: tensor<2xi8>, %arg1: tensor<2xf32>, %arg2: tensor<2xf32>) {
  // expected-error @below {{'tcp.fmuladd' op operand #0 must be ranked tensor of floating-point values, but got 'tensor<2xi8>'}}
  %0 = tcp.fmuladd %arg0, %arg1, %arg2 : tensor<2xi8>, tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @fmuladd_in2_type(%arg0: tensor<2xf32>, %arg1: tensor<2xi8>, %arg2: tensor<2xf32>) {
  // expected-error @below {{'tcp.fmuladd' op operand #1 must be ranked tensor of floating-point values, but got 'tensor<2xi8>'}}
  %0 = tcp.fmuladd %arg0, %arg1, %arg2 : tensor<2xf32>, tensor<2xi8>, tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @fmuladd_in3_type(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>, %arg2: tensor<2xi8>) {
  // expected-error @below {{'tcp.fmuladd' op operand #2 must be ranked tensor of floating-point values, but got 'tensor<2xi8>'}}
  %0 = tcp.fmuladd %arg0, %arg1, %arg2 : tensor<2xf32>, tensor<2xf32>, tensor<2xi8> -> tensor<2xf32>
  return
}

// -----

func.func @fmuladd_result_type(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>, %arg2: tensor<2xf32>) {
  // expected-error @below {{'tcp.fmuladd' op result #0 must be ranked tensor of floating-point values, but got 'tensor<2xi8>'}}
  %0 = tcp.fmuladd %arg0, %arg1, %arg2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32> -> tensor<2xi8>
  return
}

// -----

func.func @fmuladd_shape(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>, %arg2: tensor<3xf32>) {
  // expected-error @below {{'tcp.fmuladd' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.fmuladd %arg0, %arg1, %arg2 : tensor<2xf32>, tensor<2xf32>, tensor<3xf32> -> tensor<2xf32>
  return
}

// -----

func.func @fmuladd_element_type(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>, %arg2: tensor<2xf64>) {
  // expected-error @below {{'tcp.fmuladd' op requires the same element type for all operands and results}}
  %0 = tcp.fmuladd %arg0, %arg1, %arg2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf64> -> tensor<2xf32>
  return
}

// -----

func.func @select_condition_type(%arg0: tensor<?xf32>, %arg1: tensor<?xf32>, %arg2: tensor<?xf32>) {
  // expected-error @below {{'tcp.select' op operand #0 must be ranked tensor of 1-bit signless integer values, but got 'tensor<?xf32>'}}
  %0 = tcp.select %arg0, %arg1, %arg2 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  return
}

// -----

func.func @select_on_true_type(%arg0: tensor<?xi1>, %arg1: f32, %arg2: tensor<?xf32>) {
  // expected-error @below {{'tcp.select' op operand #1 must be ranked tensor of any type values, but got 'f32'}}
  %0 = tcp.select %arg0, %arg1, %arg2 : tensor<?xi1>, f32, tensor<?xf32> -> tensor<?xf32>
  return
}

// -----

func.func @select_on_false_type(%arg0: tensor<?xi1>, %arg1: tensor<?xf32>, %arg2: f32) {
  // expected-error @below {{'tcp.select' op operand #2 must be ranked tensor of any type values, but got 'f32'}}
  %0 = tcp.select %arg0, %arg1, %arg2 : tensor<?xi1>, tensor<?xf32>, f32 -> tensor<?xf32>
  return
}

// -----

func.func @select_result_type(%arg0: tensor<?xi1>, %arg1: tensor<?xf32>, %arg2: tensor<?xf32>) {
  // expected-error @below {{'tcp.select' op result #0 must be ranked tensor of any type values, but got 'f32'}}
  %0 = tcp.select %arg0, %arg1, %arg2 : tensor<?xi1>, tensor<?xf32>, tensor<?xf32> -> f32
  return
}

// -----

func.func @select_shape(%arg0: tensor<i1>, %arg1: tensor<?xf32>, %arg2: tensor<?xf32>) {
  // expected-error @below {{'tcp.select' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  return
}

// -----

func.func @select_choices_element_type(%arg0: tensor<?xi1>, %arg1: tensor<?xf32>, %arg2: tensor<?xf64>) {
  // expected-error @below {{'tcp.select' op requires the same element type throughout, but got 'f32' and 'f64'}}
  %0 = tcp.select %arg0, %arg1, %arg2 : tensor<?xi1>, tensor<?xf32>, tensor<?xf64> -> tensor<?xf32>
  return
}

// -----

func.func @select_result_element_type(%arg0: tensor<?xi1>, %arg1: tensor<?xf32>, %arg2: tensor<?xf32>) {
  // expected-error @below {{'tcp.select' op requires the same element type throughout, but got 'f32' and 'f64'}}
  %0 = tcp.select %arg0, %arg1, %arg2 : tensor<?xi1>, tensor<?xf32>, tensor<?xf32> -> tensor<?xf64>
  return
}

// -----

func.func @cast_operand_type(%arg0: tensor<?xindex>) {
  // expected-error @below {{'tcp.cast' op operand #0 must be ranked tensor of floating-point or signless integer values, but got 'tensor<?xindex>'}}
  %0 = tcp.cast %arg0 : tensor<?xindex> -> tensor<?xbf16>
  return
}

// -----

func.func @cast_result_type(%arg0: tensor<?xf16>) {
  // expected-error @below {{'tcp.cast' op result #0 must be ranked tensor of floating-point or signless integer values, but got 'tensor<?xindex>'}}
  %0 = tcp.cast %arg0 : tensor<?xf16> -> tensor<?xindex>
  return
}

// -----

func.func @cast_shape(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.cast' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.cast %arg0 : tensor<2xf32> -> tensor<3xf64>
  return
}

// -----

func.func @cast_in_int_signedness_type(%arg0: tensor<?xf16>) {
  // expected-error @below {{'tcp.cast' op attribute 'in_int_signedness' failed to satisfy constraint: signedness attribute, one of Signed, Unsigned, Signless}}
  %0 = tcp.cast %arg0 {in_int_signedness = "Signed"} : tensor<?xf16> -> tensor<?xbf16>
  return
}

// -----

func.func @cast_out_int_signedness_type(%arg0: tensor<?xf16>) {
  // expected-error @below {{'tcp.cast' op attribute 'out_int_signedness' failed to satisfy constraint: signedness attribute, one of Signed, Unsigned, Signless}}
  %0 = tcp.cast %arg0 {out_int_signedness = "Signed"} : tensor<?xf16> -> tensor<?xbf16>
  return
}

// -----

func.func @cast_without_in_int_signedness(%arg0: tensor<2xi8>) {
  // expected-error @below {{'tcp.cast' op requires attribute 'in_int_signedness' for elements of type 'i8'}}
  %0 = tcp.cast %arg0 : tensor<2xi8> -> tensor<2xf32>
  return
}

// -----

func.func @cast_without_out_int_signedness(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.cast' op requires attribute 'out_int_signedness' for elements of type 'i8'}}
  %0 = tcp.cast %arg0 : tensor<2xf32> -> tensor<2xi8>
  return
}

// -----

func.func @cast_in_int_signedness_of_float(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.cast' op attribute 'in_int_signedness' must not be set for the float type 'f32'}}
  %0 = tcp.cast %arg0 {in_int_signedness = #tcp<signedness Signed>} : tensor<2xf32> -> tensor<2xf64>
  return
}

// -----

func.func @cast_out_int_signedness_of_float(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.cast' op attribute 'out_int_signedness' must not be set for the float type 'f64'}}
  %0 = tcp.cast %arg0 {out_int_signedness = #tcp<signedness Signed>} : tensor<2xf32> -> tensor<2xf64>
  return
}

// -----

func.func @cast_in_int_signedness_of_bool(%arg0: tensor<2xi1>) {
  // expected-error @below {{'tcp.cast' op attribute 'in_int_signedness' must be Signless for 'i1', but got Signed}}
  %0 = tcp.cast %arg0 {in_int_signedness = #tcp<signedness Signed>} : tensor<2xi1> -> tensor<2xf32>
  return
}

// -----

func.func @cast_in_int_signedness_signless(%arg0: tensor<2xi32>) {
  // expected-error @below {{'tcp.cast' op attribute 'in_int_signedness' must be Signed or Unsigned for 'i32', but got Signless}}
  %0 = tcp.cast %arg0 {in_int_signedness = #tcp<signedness Signless>} : tensor<2xi32> -> tensor<2xf32>
  return
}

// -----

func.func @cast_out_int_signedness_signless_of_float(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.cast' op attribute 'out_int_signedness' must not be set for the float type 'f64'}}
  %0 = tcp.cast %arg0 {out_int_signedness = #tcp<signedness Signless>} : tensor<2xf32> -> tensor<2xf64>
  return
}

// -----

func.func @bitcast_operand_type(%arg0: tensor<?xindex>) {
  // expected-error @below {{'tcp.bitcast' op operand #0 must be ranked tensor of floating-point or signless integer values, but got 'tensor<?xindex>'}}
  %0 = tcp.bitcast %arg0 : tensor<?xindex> -> tensor<?xf64>
  return
}

// -----

func.func @bitcast_result_type(%arg0: tensor<?xf64>) {
  // expected-error @below {{'tcp.bitcast' op result #0 must be ranked tensor of floating-point or signless integer values, but got 'tensor<?xindex>'}}
  %0 = tcp.bitcast %arg0 : tensor<?xf64> -> tensor<?xindex>
  return
}

// -----

func.func @bitcast_shape(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.bitcast' op all non-scalar operands/results must have the same shape and base type}}
  %0 = tcp.bitcast %arg0 : tensor<2xf32> -> tensor<3xi32>
  return
}

// -----

func.func @bitcast_width(%arg0: tensor<2xf32>) {
  // expected-error @below {{'tcp.bitcast' op requires element types of the same width other than 'i1', but got 'f32' and 'i64'}}
  %0 = tcp.bitcast %arg0 : tensor<2xf32> -> tensor<2xi64>
  return
}

// -----

func.func @bitcast_bool(%arg0: tensor<2xi1>) {
  // expected-error @below {{'tcp.bitcast' op requires element types of the same width other than 'i1', but got 'i1' and 'i1'}}
  %0 = tcp.bitcast %arg0 : tensor<2xi1> -> tensor<2xi1>
  return
}
