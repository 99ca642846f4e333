// RUN: tcp-opt %s -split-input-file -verify-diagnostics

func.func @reduce_operand_type(%arg0: tensor<2x?x4xindex>) {
  // expected-error @below {{'tcp.reduce' op operand #0 must be ranked tensor of floating-point or signless integer values, but got 'tensor<2x?x4xindex>'}}
  %0 = tcp.reduce %arg0 {accumulation_type = f32, axes = [0, 2], combiner = #tcp<combiner sum>} : tensor<2x?x4xindex> -> tensor<?xf16>
  return
}

// -----

func.func @reduce_result_type(%arg0: tensor<2x?x4xf16>) {
  // expected-error @below {{'tcp.reduce' op result #0 must be ranked tensor of floating-point or signless integer values, but got 'tensor<?xindex>'}}
  %0 = tcp.reduce %arg0 {accumulation_type = f32, axes = [0, 2], combiner = #tcp<combiner sum>} : tensor<2x?x4xf16> -> tensor<?xindex>
  return
}

// -----

func.func @reduce_without_axes(%arg0: tensor<2x?x4xf16>) {
  // expected-error @below {{'tcp.reduce' op requires attribute 'axes'}}
  %0 = tcp.reduce %arg0 {accumulation_type = f32, combiner = #tcp<combiner sum>} : tensor<2x?x4xf16> -> tensor<?xf16>
  return
}

// -----

func.func @reduce_axes_type(%arg0: tensor<2x?x4xf16>) {
  // expected-error @below {{'tcp.reduce' op attribute 'axes' failed to satisfy constraint: 64-bit integer array attribute}}
  %0 = tcp.reduce %arg0 {accumulation_type = f32, axes = array<i64: 1>, combiner = #tcp<combiner sum>} : tensor<2x?x4xf16> -> tensor<?xf16>
  return
}

// -----

func.func @reduce_without_combiner(%arg0: tensor<2x?x4xf16>) {
  // expected-error @below {{'tcp.reduce' op requires attribute 'combiner'}}
  %0 = tcp.reduce %arg0 {accumulation_type = f32, axes = [0, 2]} : tensor<2x?x4xf16> -> tensor<?xf16>
  return
}

// -----

func.func @reduce_combiner_type(%arg0: tensor<2x?x4xf16>) {
  // expected-error @below {{'tcp.reduce' op attribute 'combiner' failed to satisfy constraint: combiner attribute, one of sum, prod, max, min, and, or, logaddexp}}
  %0 = tcp.reduce %arg0 {accumulation_type = f32, axes = [0, 2], combiner = "sum"} : tensor<2x?x4xf16> -> tensor<?xf16>
  return
}

// -----

func.func @reduce_accumulation_type_type(%arg0: tensor<2x?x4xf16>) {
  // expected-error @below {{'tcp.reduce' op attribute 'accumulation_type' failed to satisfy constraint: floating-point or signless integer type attribute}}
  %0 = tcp.reduce %arg0 {axes = [1], combiner = #tcp<combiner sum>, accumulation_type = index} : tensor<2x?x4xf16> -> tensor<2x4xf16>
  return
}

// -----

func.func @reduce_int_signedness_type(%arg0: tensor<2x?x4xf16>) {
  // expected-error @below {{'tcp.reduce' op attribute 'int_signedness' failed to satisfy constraint: signedness attribute, one of Signed, Unsigned, Signless}}
  %0 = tcp.reduce %arg0 {accumulation_type = f32, axes = [0, 2], combiner = #tcp<combiner sum>, int_signedness = "Signed"} : tensor<2x?x4xf16> -> tensor<?xf16>
  return
}

// -----

func.func @reduce_logaddexp_of_other_elements(%arg0: tensor<3xi8>) {
  // expected-error @below {{'tcp.reduce' op combiner 'logaddexp' requires floating-point elements, but got 'i8'}}
  %0 = tcp.reduce %arg0 {axes = [0], combiner = #tcp<combiner logaddexp>} : tensor<3xi8> -> tensor<i8>
  return
}

// -----

func.func @reduce_axis_out_of_bounds(%arg0: tensor<2x?x4xf16>) {
  // expected-error @below {{'tcp.reduce' op requires 'axes' within the rank 3, but got 3}}
  %0 = tcp.reduce %arg0 {axes = [3], combiner = #tcp<combiner max>} : tensor<2x?x4xf16> -> tensor<?xf16>
  return
}

// -----

func.func @reduce_axis_negative(%arg0: tensor<2x?x4xf16>) {
  // expected-error @below {{'tcp.reduce' op requires 'axes' within the rank 3, but got -1}}
  %0 = tcp.reduce %arg0 {axes = [-1], combiner = #tcp<combiner max>} : tensor<2x?x4xf16> -> tensor<?xf16>
  return
}

// -----

func.func @reduce_axes_not_increasing(%arg0: tensor<2x?x4xf16>) {
  // expected-error @below {{'tcp.reduce' op requires 'axes' to strictly increase, but got [2, 0]}}
  %0 = tcp.reduce %arg0 {axes = [2, 0], combiner = #tcp<combiner max>} : tensor<2x?x4xf16> -> tensor<?xf16>
  return
}

// -----

func.func @reduce_result_shape(%arg0: tensor<2x?x4xf16>) {
  // expected-error @below {{'tcp.reduce' op requires a result of shape 2x4, but got 2x1x4}}
  %0 = tcp.reduce %arg0 {axes = [1], combiner = #tcp<combiner max>} : tensor<2x?x4xf16> -> tensor<2x1x4xf16>
  return
}

// -----

func.func @reduce_element_type(%arg0: tensor<2x?x4xf16>) {
  // expected-error @below {{'tcp.reduce' op requires the same element type throughout, but got 'f16' and 'f32'}}
  %0 = tcp.reduce %arg0 {axes = [1], combiner = #tcp<combiner max>} : tensor<2x?x4xf16> -> tensor<2x4xf32>
  return
}

// -----

func.func @reduce_sum_without_accumulation_type(%arg0: tensor<2x?x4xf16>) {
  // expected-error @below {{'tcp.reduce' op requires attribute 'accumulation_type' for 'sum'}}
  %0 = tcp.reduce %arg0 {axes = [1], combiner = #tcp<combiner sum>} : tensor<2x?x4xf16> -> tensor<2x4xf16>
  return
}

// -----

func.func @reduce_accumulation_type_for_max(%arg0: tensor<2x?x4xf16>) {
  // expected-error @below {{'tcp.reduce' op attribute 'accumulation_type' must not be set for 'max'}}
  %0 = tcp.reduce %arg0 {axes = [1], combiner = #tcp<combiner max>, accumulation_type = f32} : tensor<2x?x4xf16> -> tensor<2x4xf16>
  return
}

// -----

func.func @reduce_floats_in_integers(%arg0: tensor<2x?x4xf16>) {
  // expected-error @below {{'tcp.reduce' op requires an 'accumulation_type' that holds 'f16', but got 'i32'}}
  %0 = tcp.reduce %arg0 {axes = [1], combiner = #tcp<combiner sum>, accumulation_type = i32} : tensor<2x?x4xf16> -> tensor<2x4xf16>
  return
}

// -----

// A type accumulates what it can hold.
func.func @reduce_in_a_narrower_type(%arg0: tensor<2x?x4xf16>) {
  // expected-error @below {{'tcp.reduce' op requires an 'accumulation_type' that holds 'f16', but got 'f8E5M2'}}
  %0 = tcp.reduce %arg0 {axes = [1], combiner = #tcp<combiner sum>, accumulation_type = f8E5M2} : tensor<2x?x4xf16> -> tensor<2x4xf16>
  return
}

// -----

func.func @reduce_or_of_other_elements(%arg0: tensor<3xi8>) {
  // expected-error @below {{'tcp.reduce' op combiner 'or' requires elements of type 'i1', but got 'i8'}}
  %0 = tcp.reduce %arg0 {axes = [0], combiner = #tcp<combiner or>} : tensor<3xi8> -> tensor<i8>
  return
}

// -----

func.func @reduce_int_signedness_of_float(%arg0: tensor<2x?x4xf16>) {
  // expected-error @below {{'tcp.reduce' op attribute 'int_signedness' must not be set for the float type 'f16'}}
  %0 = tcp.reduce %arg0 {axes = [1], combiner = #tcp<combiner max>, int_signedness = #tcp<signedness Signed>} : tensor<2x?x4xf16> -> tensor<2x4xf16>
  return
}

// -----

func.func @scan_operand_type(%arg0: tensor<2x?x4xindex>) {
  // expected-error @below {{'tcp.scan' op operand #0 must be ranked tensor of floating-point or signless integer values, but got 'tensor<2x?x4xindex>'}}
  %0 = tcp.scan %arg0 {accumulation_type = f32, combiner = #tcp<combiner sum>, dim = 1 : index} : tensor<2x?x4xindex> -> tensor<2x?x4xf16>
  return
}

// -----

func.func @scan_result_type(%arg0: tensor<2x?x4xf16>) {
  // expected-error @below {{'tcp.scan' op result #0 must be ranked tensor of floating-point or signless integer values, but got 'tensor<2x?x4xindex>'}}
  %0 = tcp.scan %arg0 {accumulation_type = f32, combiner = #tcp<combiner sum>, dim = 1 : index} : tensor<2x?x4xf16> -> tensor<2x?x4xindex>
  return
}

// -----

func.func @scan_without_dim(%arg0: tensor<2x?x4xf16>) {
  // expected-error @below {{'tcp.scan' op requires attribute 'dim'}}
  %0 = tcp.scan %arg0 {accumulation_type = f32, combiner = #tcp<combiner sum>} : tensor<2x?x4xf16> -> tensor<2x?x4xf16>
  return
}

// -----

func.func @scan_dim_type(%arg0: tensor<2x?x4xf16>) {
  // expected-error @below {{'tcp.scan' op attribute 'dim' failed to satisfy constraint: index attribute}}
  %0 = tcp.scan %arg0 {accumulation_type = f32, combiner = #tcp<combiner sum>, dim = 0 : i32} : tensor<2x?x4xf16> -> tensor<2x?x4xf16>
  return
}

// -----

func.func @scan_without_combiner(%arg0: tensor<2x?x4xf16>) {
  // expected-error @below {{'tcp.scan' op requires attribute 'combiner'}}
  %0 = tcp.scan %arg0 {accumulation_type = f32, dim = 1 : index} : tensor<2x?x4xf16> -> tensor<2x?x4xf16>
  return
}

// -----

func.func @scan_combiner_type(%arg0: tensor<2x?x4xf16>) {
  // expected-error @below {{'tcp.scan' op attribute 'combiner' failed to satisfy constraint: combiner attribute, one of sum, prod, max, min, and, or, logaddexp}}
  %0 = tcp.scan %arg0 {accumulation_type = f32, combiner = "sum", dim = 1 : index} : tensor<2x?x4xf16> -> tensor<2x?x4xf16>
  return
}

// -----

func.func @scan_accumulation_type_type(%arg0: tensor<2x?x4xf16>) {
  // expected-error @below {{'tcp.scan' op attribute 'accumulation_type' failed to satisfy constraint: floating-point or signless integer type attribute}}
  %0 = tcp.scan %arg0 {accumulation_type = index, combiner = #tcp<combiner sum>, dim = 1 : index} : tensor<2x?x4xf16> -> tensor<2x?x4xf16>
  return
}

// -----

func.func @scan_int_signedness_type(%arg0: tensor<2x?x4xf16>) {
  // expected-error @below {{'tcp.scan' op attribute 'int_signedness' failed to satisfy constraint: signedness attribute, one of Signed, Unsigned, Signless}}
  %0 = tcp.scan %arg0 {accumulation_type = f32, combiner = #tcp<combiner sum>, dim = 1 : index, int_signedness = "Signed"} : tensor<2x?x4xf16> -> tensor<2x?x4xf16>
  return
}

// -----

func.func @scan_dim_out_of_bounds(%arg0: tensor<3xi8>) {
  // expected-error @below {{'tcp.scan' op requires 'dim' within the rank 1, but got 1}}
  %0 = tcp.scan %arg0 {combiner = #tcp<combiner max>, dim = 1 : index} : tensor<3xi8> -> tensor<3xi8>
  return
}

// -----

func.func @scan_result_shape(%arg0: tensor<3xi8>) {
  // expected-error @below {{'tcp.scan' op requires a result of shape 3, but got 4}}
  %0 = tcp.scan %arg0 {combiner = #tcp<combiner max>, dim = 0 : index} : tensor<3xi8> -> tensor<4xi8>
  return
}

// -----

func.func @scan_element_type(%arg0: tensor<3xi8>) {
  // expected-error @below {{'tcp.scan' op requires the same element type throughout, but got 'i8' and 'i16'}}
  %0 = tcp.scan %arg0 {combiner = #tcp<combiner max>, dim = 0 : index} : tensor<3xi8> -> tensor<3xi16>
  return
}

// -----

func.func @scan_sum_without_accumulation_type(%arg0: tensor<3xi8>) {
  // expected-error @below {{'tcp.scan' op requires attribute 'accumulation_type' for 'sum'}}
  %0 = tcp.scan %arg0 {combiner = #tcp<combiner sum>, dim = 0 : index} : tensor<3xi8> -> tensor<3xi8>
  return
}

// -----

func.func @scan_and_of_other_elements(%arg0: tensor<3xi8>) {
  // expected-error @below {{'tcp.scan' op combiner 'and' requires elements of type 'i1', but got 'i8'}}
  %0 = tcp.scan %arg0 {combiner = #tcp<combiner and>, dim = 0 : index} : tensor<3xi8> -> tensor<3xi8>
  return
}

// -----

func.func @scan_int_signedness_of_float(%arg0: tensor<2x?x4xf16>) {
  // expected-error @below {{'tcp.scan' op attribute 'int_signedness' must not be set for the float type 'f16'}}
  %0 = tcp.scan %arg0 {combiner = #tcp<combiner max>, dim = 0 : index, int_signedness = #tcp<signedness Signed>} : tensor<2x?x4xf16> -> tensor<2x?x4xf16>
  return
}

// -----

func.func @scan_or_of_other_elements(%arg0: tensor<2x?x4xf16>) {
  // expected-error @below {{'tcp.scan' op combiner 'or' requires elements of type 'i1', but got 'f16'}}
  %0 = tcp.scan %arg0 {combiner = #tcp<combiner or>, dim = 0 : index} : tensor<2x?x4xf16> -> tensor<2x?x4xf16>
  return
}

// -----

func.func @argmax_operand_type(%arg0: tensor<2x?x4xindex>) {
  // expected-error @below {{'tcp.argmax' op operand #0 must be ranked tensor of floating-point or signless integer values, but got 'tensor<2x?x4xindex>'}}
  %0 = tcp.argmax %arg0 {dim = 1 : index} : tensor<2x?x4xindex> -> tensor<2x4xi64>
  return
}

// -----

func.func @argmax_result_type(%arg0: tensor<2x?x4xf16>) {
  // expected-error @below {{'tcp.argmax' op result #0 must be ranked tensor of signless integer values, but got 'tensor<2x4xf16>'}}
  %0 = tcp.argmax %arg0 {dim = 1 : index} : tensor<2x?x4xf16> -> tensor<2x4xf16>
  return
}

// -----

func.func @argmax_without_dim(%arg0: tensor<2x?x4xf16>) {
  // expected-error @below {{'tcp.argmax' op requires attribute 'dim'}}
  %0 = tcp.argmax %arg0 : tensor<2x?x4xf16> -> tensor<2x4xi64>
  return
}

// -----

func.func @argmax_dim_type(%arg0: tensor<2x?x4xf16>) {
  // expected-error @below {{'tcp.argmax' op attribute 'dim' failed to satisfy constraint: index attribute}}
  %0 = tcp.argmax %arg0 {dim = 0 : i32} : tensor<2x?x4xf16> -> tensor<2x4xi64>
  return
}

// -----

func.func @argmax_int_signedness_type(%arg0: tensor<2x?x4xf16>) {
  // expected-error @below {{'tcp.argmax' op attribute 'int_signedness' failed to satisfy constraint: signedness attribute, one of Signed, Unsigned, Signless}}
  %0 = tcp.argmax %arg0 {dim = 1 : index, int_signedness = "Signed"} : tensor<2x?x4xf16> -> tensor<2x4xi64>
  return
}

// -----

func.func @argmax_dim_out_of_bounds(%arg0: tensor<2x?x4xf16>) {
  // expected-error @below {{'tcp.argmax' op requires 'dim' within the rank 3, but got 3}}
  %0 = tcp.argmax %arg0 {dim = 3 : index} : tensor<2x?x4xf16> -> tensor<2x4xi64>
  return
}

// -----

func.func @argmax_result_shape(%arg0: tensor<2x?x4xf16>) {
  // expected-error @below {{'tcp.argmax' op requires a result of shape 2x4, but got 2x5}}
  %0 = tcp.argmax %arg0 {dim = 1 : index} : tensor<2x?x4xf16> -> tensor<2x5xi64>
  return
}

// -----

func.func @argmax_int_signedness_of_float(%arg0: tensor<2x?x4xf16>) {
  // expected-error @below {{'tcp.argmax' op attribute 'int_signedness' must not be set for the float type 'f16'}}
  %0 = tcp.argmax %arg0 {dim = 1 : index, int_signedness = #tcp<signedness Signed>} : tensor<2x?x4xf16> -> tensor<2x4xi64>
  return
}

// -----

func.func @argmin_operand_type(%arg0: tensor<3xindex>) {
  // expected-error @below {{'tcp.argmin' op operand #0 must be ranked tensor of floating-point or signless integer values, but got 'tensor<3xindex>'}}
  %0 = tcp.argmin %arg0 {dim = 0 : index, int_signedness = #tcp<signedness Signed>} : tensor<3xindex> -> tensor<i32>
  return
}

// -----

func.func @argmin_result_type(%arg0: tensor<3xi8>) {
  // expected-error @below {{'tcp.argmin' op result #0 must be ranked tensor of signless integer values, but got 'tensor<f32>'}}
  %0 = tcp.argmin %arg0 {dim = 0 : index, int_signedness = #tcp<signedness Signed>} : tensor<3xi8> -> tensor<f32>
  return
}

// -----

func.func @argmin_without_dim(%arg0: tensor<3xi8>) {
  // expected-error @below {{'tcp.argmin' op requires attribute 'dim'}}
  %0 = tcp.argmin %arg0 {int_signedness = #tcp<signedness Signed>} : tensor<3xi8> -> tensor<i32>
  return
}

// -----

func.func @argmin_dim_type(%arg0: tensor<3xi8>) {
  // expected-error @below {{'tcp.argmin' op attribute 'dim' failed to satisfy constraint: index attribute}}
  %0 = tcp.argmin %arg0 {dim = 0 : i32, int_signedness = #tcp<signedness Signed>} : tensor<3xi8> -> tensor<i32>
  return
}

// -----

func.func @argmin_int_signedness_type(%arg0: tensor<3xi8>) {
  // expected-error @below {{'tcp.argmin' op attribute 'int_signedness' failed to satisfy constraint: signedness attribute, one of Signed, Unsigned, Signless}}
  %0 = tcp.argmin %arg0 {dim = 0 : index, int_signedness = "Signed"} : tensor<3xi8> -> tensor<i32>
  return
}

// -----

func.func @argmin_result_shape(%arg0: tensor<2x?x4xf16>) {
  // expected-error @below {{'tcp.argmin' op requires a result of shape 2x4, but got 4x2}}
  %0 = tcp.argmin %arg0 {dim = 1 : index} : tensor<2x?x4xf16> -> tensor<4x2xi64>
  return
}

// -----

func.func @argmin_int_signedness_signless(%arg0: tensor<3xi8>) {
  // expected-error @below {{'tcp.argmin' op attribute 'int_signedness' must be Signed or Unsigned for 'i8', but got Signless}}
  %0 = tcp.argmin %arg0 {dim = 0 : index, int_signedness = #tcp<signedness Signless>} : tensor<3xi8> -> tensor<i32>
  return
}

// -----

func.func @argmin_dim_out_of_bounds(%arg0: tensor<3xi8>) {
  // expected-error @below {{'tcp.argmin' op requires 'dim' within the rank 1, but got 1}}
  %0 = tcp.argmin %arg0 {dim = 1 : index} : tensor<3xi8> -> tensor<i32>
  return
}
