// RUN: tcp-opt %s -split-input-file -verify-diagnostics

func.func @gather_input_type(%arg0: f32, %arg1: tensor<2x1xi64>) {
  // expected-error @below {{'tcp.gather' op operand #0 must be ranked tensor of any type values, but got 'f32'}}
  %0 = tcp.gather %arg0, %arg1 {dim = 1 : index} : f32, tensor<2x1xi64> -> tensor<2x1xf32>
  return
}

// -----

func.func @gather_indices_type(%arg0: tensor<2x3xf32>) {
  // expected-error @below {{'tcp.gather' op operand #1 must be ranked tensor of signless integer values, but got 'tensor<2x3xf32>'}}
  %0 = tcp.gather %arg0, %arg0 {dim = 1 : index} : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @gather_result_type(%arg0: tensor<2x3xf32>, %arg1: tensor<2x1xi64>) {
  // expected-error @below {{'tcp.gather' op result #0 must be ranked tensor of any type values, but got 'f32'}}
  %0 = tcp.gather %arg0, %arg1 {dim = 1 : index} : tensor<2x3xf32>, tensor<2x1xi64> -> f32
  return
}

// -----

func.func @gather_without_dim(%arg0: tensor<2x3xf32>, %arg1: tensor<2x1xi64>) {
  // expected-error @below {{'tcp.gather' op requires attribute 'dim'}}
  %0 = tcp.gather %arg0, %arg1 : tensor<2x3xf32>, tensor<2x1xi64> -> tensor<2x1xf32>
  return
}

// -----

func.func @gather_dim_type(%arg0: tensor<2x3xf32>, %arg1: tensor<2x1xi64>) {
  // expected-error @below {{'tcp.gather' op attribute 'dim' failed to satisfy constraint: index attribute}}
  %0 = tcp.gather %arg0, %arg1 {dim = 0 : i32} : tensor<2x3xf32>, tensor<2x1xi64> -> tensor<2x1xf32>
  return
}

// -----

func.func @gather_dim_out_of_bounds(%arg0: tensor<2x3xf32>, %arg1: tensor<2x1xi64>) {
  // expected-error @below {{'tcp.gather' op requires 'dim' within the rank 2, but got 2}}
  %0 = tcp.gather %arg0, %arg1 {dim = 2 : index} : tensor<2x3xf32>, tensor<2x1xi64> -> tensor<2x1xf32>
  return
}

// -----

func.func @gather_indices_rank(%arg0: tensor<4x2x3xf32>, %arg1: tensor<2x1xi64>) {
  // expected-error @below {{'tcp.gather' op requires indices of rank 3, but got rank 2}}
  %0 = tcp.gather %arg0, %arg1 {dim = 0 : index} : tensor<4x2x3xf32>, tensor<2x1xi64> -> tensor<2x1xf32>
  return
}

// -----

// Along `dim` there may be more.
func.func @gather_indices_too_large(%arg0: tensor<1x?xf32>, %arg1: tensor<2x1xi64>) {
  // expected-error @below {{'tcp.gather' op requires indices no larger than the input, but got 2 for 1 elements along axis 0}}
  %0 = tcp.gather %arg0, %arg1 {dim = 1 : index} : tensor<1x?xf32>, tensor<2x1xi64> -> tensor<2x1xf32>
  return
}

// -----

func.func @gather_result_shape(%arg0: tensor<2x3xf32>, %arg1: tensor<2x1xi64>) {
  // expected-error @below {{'tcp.gather' op requires a result of shape 2x1, but got 2x3}}
  %0 = tcp.gather %arg0, %arg1 {dim = 1 : index} : tensor<2x3xf32>, tensor<2x1xi64> -> tensor<2x3xf32>
  return
}

// -----

func.func @gather_element_type(%arg0: tensor<2x3xf32>, %arg1: tensor<2x1xi64>) {
  // expected-error @below {{'tcp.gather' op requires the same element type throughout, but got 'f32' and 'f64'}}
  %0 = tcp.gather %arg0, %arg1 {dim = 1 : index} : tensor<2x3xf32>, tensor<2x1xi64> -> tensor<2x1xf64>
  return
}

// -----

func.func @scatter_input_type(%arg0: f32, %arg1: tensor<?x?xi64>, %arg2: tensor<?x?xf32>) {
  // expected-error @below {{'tcp.scatter' op operand #0 must be ranked tensor of any type values, but got 'f32'}}
  %0 = tcp.scatter %arg0, %arg1, %arg2 {dim = 0 : index} : f32, tensor<?x?xi64>, tensor<?x?xf32> -> tensor<?x?xf32>
  return
}

// -----

func.func @scatter_indices_type(%arg0: tensor<?x?xf32>, %arg1: tensor<?x?xf32>, %arg2: tensor<?x?xf32>) {
  // expected-error @below {{'tcp.scatter' op operand #1 must be ranked tensor of signless integer values, but got 'tensor<?x?xf32>'}}
  %0 = tcp.scatter %arg0, %arg1, %arg2 {dim = 0 : index} : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32> -> tensor<?x?xf32>
  return
}

// -----

func.func @scatter_updates_type(%arg0: tensor<?x?xf32>, %arg1: tensor<?x?xi64>, %arg2: f32) {
  // expected-error @below {{'tcp.scatter' op operand #2 must be ranked tensor of any type values, but got 'f32'}}
  %0 = tcp.scatter %arg0, %arg1, %arg2 {dim = 0 : index} : tensor<?x?xf32>, tensor<?x?xi64>, f32 -> tensor<?x?xf32>
  return
}

// -----

func.func @scatter_result_type(%arg0: tensor<?x?xf32>, %arg1: tensor<?x?xi64>, %arg2: tensor<?x?xf32>) {
  // expected-error @below {{'tcp.scatter' op result #0 must be ranked tensor of any type values, but got 'f32'}}
  %0 = tcp.scatter %arg0, %arg1, %arg2 {dim = 0 : index} : tensor<?x?xf32>, tensor<?x?xi64>, tensor<?x?xf32> -> f32
  return
}

// -----

func.func @scatter_without_dim(%arg0: tensor<?x?xf32>, %arg1: tensor<?x?xi64>, %arg2: tensor<?x?xf32>) {
  // expected-error @below {{'tcp.scatter' op requires attribute 'dim'}}
  %0 = tcp.scatter %arg0, %arg1, %arg2 : tensor<?x?xf32>, tensor<?x?xi64>, tensor<?x?xf32> -> tensor<?x?xf32>
  return
}

// -----

func.func @scatter_dim_type(%arg0: tensor<?x?xf32>, %arg1: tensor<?x?xi64>, %arg2: tensor<?x?xf32>) {
  // expected-error @below {{'tcp.scatter' op attribute 'dim' failed to satisfy constraint: index attribute}}
  %0 = tcp.scatter %arg0, %arg1, %arg2 {dim = 0 : i32} : tensor<?x?xf32>, tensor<?x?xi64>, tensor<?x?xf32> -> tensor<?x?xf32>
  return
}

// -----

func.func @scatter_combiner_type(%arg0: tensor<?x?xf32>, %arg1: tensor<?x?xi64>, %arg2: tensor<?x?xf32>) {
  // expected-error @below {{'tcp.scatter' op attribute 'combiner' failed to satisfy constraint: combiner attribute, one of sum, prod, max, min, and, or, logaddexp}}
  %0 = tcp.scatter %arg0, %arg1, %arg2 {combiner = "None", dim = 0 : index} : tensor<?x?xf32>, tensor<?x?xi64>, tensor<?x?xf32> -> tensor<?x?xf32>
  return
}

// -----

func.func @scatter_int_signedness_type(%arg0: tensor<?x?xf32>, %arg1: tensor<?x?xi64>, %arg2: tensor<?x?xf32>) {
  // expected-error @below {{'tcp.scatter' op attribute 'int_signedness' failed to satisfy constraint: signedness attribute, one of Signed, Unsigned, Signless}}
  %0 = tcp.scatter %arg0, %arg1, %arg2 {dim = 0 : index, int_signedness = "Signed"} : tensor<?x?xf32>, tensor<?x?xi64>, tensor<?x?xf32> -> tensor<?x?xf32>
  return
}

// -----

func.func @scatter_updates_shape(%arg0: tensor<2x3xf32>, %arg1: tensor<2x1xi64>) {
  // expected-error @below {{'tcp.scatter' op requires updates of shape 2x1, but got 2x3}}
  %0 = tcp.scatter %arg0, %arg1, %arg0 {dim = 0 : index} : tensor<2x3xf32>, tensor<2x1xi64>, tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @scatter_dim_out_of_bounds(%arg0: tensor<?x?xf32>, %arg1: tensor<?x?xi64>) {
  // expected-error @below {{'tcp.scatter' op requires 'dim' within the rank 2, but got 5}}
  %0 = tcp.scatter %arg0, %arg1, %arg0 {dim = 5 : index} : tensor<?x?xf32>, tensor<?x?xi64>, tensor<?x?xf32> -> tensor<?x?xf32>
  return
}

// -----

func.func @scatter_element_type(%arg0: tensor<?x?xf32>, %arg1: tensor<?x?xi64>) {
  // expected-error @below {{'tcp.scatter' op requires the same element type throughout, but got 'f32' and 'i64'}}
  %0 = tcp.scatter %arg0, %arg1, %arg1 {dim = 0 : index} : tensor<?x?xf32>, tensor<?x?xi64>, tensor<?x?xi64> -> tensor<?x?xf32>
  return
}

// -----

func.func @scatter_result_shape(%arg0: tensor<2x3xf32>, %arg1: tensor<?x?xi64>, %arg2: tensor<?x?xf32>) {
  // expected-error @below {{'tcp.scatter' op requires a result of shape 2x3, but got 2x4}}
  %0 = tcp.scatter %arg0, %arg1, %arg2 {dim = 0 : index} : tensor<2x3xf32>, tensor<?x?xi64>, tensor<?x?xf32> -> tensor<2x4xf32>
  return
}

// -----

func.func @scatter_and_of_other_elements(%arg0: tensor<?x?xf32>, %arg1: tensor<?x?xi64>) {
  // expected-error @below {{'tcp.scatter' op combiner 'and' requires elements of type 'i1', but got 'f32'}}
  %0 = tcp.scatter %arg0, %arg1, %arg0 {dim = 0 : index, combiner = #tcp<combiner and>} : tensor<?x?xf32>, tensor<?x?xi64>, tensor<?x?xf32> -> tensor<?x?xf32>
  return
}

// -----

func.func @scatter_int_signedness_alone(%arg0: tensor<?x?xi64>) {
  // expected-error @below {{'tcp.scatter' op attribute 'int_signedness' must not be set without a 'combiner'}}
  %0 = tcp.scatter %arg0, %arg0, %arg0 {dim = 0 : index, int_signedness = #tcp<signedness Signed>} : tensor<?x?xi64>, tensor<?x?xi64>, tensor<?x?xi64> -> tensor<?x?xi64>
  return
}

// -----

func.func @scatter_int_signedness_of_float(%arg0: tensor<?x?xf32>, %arg1: tensor<?x?xi64>) {
  // expected-error @below {{'tcp.scatter' op attribute 'int_signedness' must not be set for the float type 'f32'}}
  %0 = tcp.scatter %arg0, %arg1, %arg0 {dim = 0 : index, combiner = #tcp<combiner max>, int_signedness = #tcp<signedness Signed>} : tensor<?x?xf32>, tensor<?x?xi64>, tensor<?x?xf32> -> tensor<?x?xf32>
  return
}

// -----

func.func @scatter_indices_rank(%arg0: tensor<2x3xf32>, %arg1: tensor<2xi64>, %arg2: tensor<2xf32>) {
  // expected-error @below {{'tcp.scatter' op requires indices of rank 2, but got rank 1}}
  %0 = tcp.scatter %arg0, %arg1, %arg2 {dim = 0 : index} : tensor<2x3xf32>, tensor<2xi64>, tensor<2xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @scatter_indices_too_large(%arg0: tensor<2x3xf32>, %arg1: tensor<5x4xi64>, %arg2: tensor<5x4xf32>) {
  // expected-error @below {{'tcp.scatter' op requires indices no larger than the input, but got 4 for 3 elements along axis 1}}
  %0 = tcp.scatter %arg0, %arg1, %arg2 {dim = 0 : index} : tensor<2x3xf32>, tensor<5x4xi64>, tensor<5x4xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @gather_nd_input_type(%arg0: f32, %arg1: tensor<?x2xi32>) {
  // expected-error @below {{'tcp.gather_nd' op operand #0 must be ranked tensor of any type values, but got 'f32'}}
  %0 = tcp.gather_nd %arg0, %arg1 : f32, tensor<?x2xi32> -> tensor<?x3xf32>
  return
}

// -----

func.func @gather_nd_indices_type(%arg0: tensor<4x2x3xf32>, %arg1: tensor<?x2xf32>) {
  // expected-error @below {{'tcp.gather_nd' op operand #1 must be ranked tensor of signless integer values, but got 'tensor<?x2xf32>'}}
  %0 = tcp.gather_nd %arg0, %arg1 : tensor<4x2x3xf32>, tensor<?x2xf32> -> tensor<?x3xf32>
  return
}

// -----

func.func @gather_nd_result_type(%arg0: tensor<4x2x3xf32>, %arg1: tensor<?x2xi32>) {
  // expected-error @below {{'tcp.gather_nd' op result #0 must be ranked tensor of any type values, but got 'f32'}}
  %0 = tcp.gather_nd %arg0, %arg1 : tensor<4x2x3xf32>, tensor<?x2xi32> -> f32
  return
}

// -----

// Into how many dimensions a row of indices reaches must be known.
func.func @gather_nd_dynamic_depth(%arg0: tensor<4x2x3xf32>, %arg1: tensor<?x?xi64>) {
  // expected-error @below {{'tcp.gather_nd' op requires indices of a static size along their last axis}}
  %0 = tcp.gather_nd %arg0, %arg1 : tensor<4x2x3xf32>, tensor<?x?xi64> -> tensor<?x3xf32>
  return
}

// -----

func.func @gather_nd_too_deep(%arg0: tensor<4x2x3xf32>) {
  %1 = tcp.iota() {dim = 0 : index} : tensor<5x4xi64>
  // expected-error @below {{'tcp.gather_nd' op requires indices for at most 3 dimensions, but got 4}}
  %2 = tcp.gather_nd %arg0, %1 : tensor<4x2x3xf32>, tensor<5x4xi64> -> tensor<5xf32>
  return
}

// -----

func.func @gather_nd_indices_rank(%arg0: tensor<4x2x3xf32>) {
  %1 = tcp.const {value = dense<0> : tensor<i64>} : tensor<i64>
  // expected-error @below {{'tcp.gather_nd' op requires indices of rank 1 or more, but got rank 0}}
  %2 = tcp.gather_nd %arg0, %1 : tensor<4x2x3xf32>, tensor<i64> -> tensor<2x3xf32>
  return
}

// -----

func.func @gather_nd_result_shape(%arg0: tensor<4x2x3xf32>, %arg1: tensor<?x2xi32>) {
  // expected-error @below {{'tcp.gather_nd' op requires a result of shape ?x3, but got ?x2}}
  %0 = tcp.gather_nd %arg0, %arg1 : tensor<4x2x3xf32>, tensor<?x2xi32> -> tensor<?x2xf32>
  return
}

// -----

func.func @gather_nd_element_type(%arg0: tensor<4x2x3xf32>, %arg1: tensor<?x2xi32>) {
  // expected-error @below {{'tcp.gather_nd' op requires the same element type throughout, but got 'f32' and 'f64'}}
  %0 = tcp.gather_nd %arg0, %arg1 : tensor<4x2x3xf32>, tensor<?x2xi32> -> tensor<?x3xf64>
  return
}

// -----

func.func @scatter_nd_input_type(%arg0: f32, %arg1: tensor<?x2xi32>, %arg2: tensor<?x3xf32>) {
  // expected-error @below {{'tcp.scatter_nd' op operand #0 must be ranked tensor of any type values, but got 'f32'}}
  %0 = tcp.scatter_nd %arg0, %arg1, %arg2 {combiner = #tcp<combiner sum>} : f32, tensor<?x2xi32>, tensor<?x3xf32> -> tensor<4x2x3xf32>
  return
}

// -----

func.func @scatter_nd_indices_type(%arg0: tensor<4x2x3xf32>, %arg1: tensor<?x2xf32>, %arg2: tensor<?x3xf32>) {
  // expected-error @below {{'tcp.scatter_nd' op operand #1 must be ranked tensor of signless integer values, but got 'tensor<?x2xf32>'}}
  %0 = tcp.scatter_nd %arg0, %arg1, %arg2 {combiner = #tcp<combiner sum>} : tensor<4x2x3xf32>, tensor<?x2xf32>, tensor<?x3xf32> -> tensor<4x2x3xf32>
  return
}

// -----

func.func @scatter_nd_updates_type(%arg0: tensor<4x2x3xf32>, %arg1: tensor<?x2xi32>, %arg2: f32) {
  // expected-error @below {{'tcp.scatter_nd' op operand #2 must be ranked tensor of any type values, but got 'f32'}}
  %0 = tcp.scatter_nd %arg0, %arg1, %arg2 {combiner = #tcp<combiner sum>} : tensor<4x2x3xf32>, tensor<?x2xi32>, f32 -> tensor<4x2x3xf32>
  return
}

// -----

func.func @scatter_nd_result_type(%arg0: tensor<4x2x3xf32>, %arg1: tensor<?x2xi32>, %arg2: tensor<?x3xf32>) {
  // expected-error @below {{'tcp.scatter_nd' op result #0 must be ranked tensor of any type values, but got 'f32'}}
  %0 = tcp.scatter_nd %arg0, %arg1, %arg2 {combiner = #tcp<combiner sum>} : tensor<4x2x3xf32>, tensor<?x2xi32>, tensor<?x3xf32> -> f32
  return
}

// -----

func.func @scatter_nd_combiner_type(%arg0: tensor<4x2x3xf32>, %arg1: tensor<?x2xi32>, %arg2: tensor<?x3xf32>) {
  // expected-error @below {{'tcp.scatter_nd' op attribute 'combiner' failed to satisfy constraint: combiner attribute, one of sum, prod, max, min, and, or, logaddexp}}
  %0 = tcp.scatter_nd %arg0, %arg1, %arg2 {combiner = "sum"} : tensor<4x2x3xf32>, tensor<?x2xi32>, tensor<?x3xf32> -> tensor<4x2x3xf32>
  return
}

// -----

func.func @scatter_nd_int_signedness_type(%arg0: tensor<4x2x3xf32>, %arg1: tensor<?x2xi32>, %arg2: tensor<?x3xf32>) {
  // expected-error @below {{'tcp.scatter_nd' op attribute 'int_signedness' failed to satisfy constraint: signedness attribute, one of Signed, Unsigned, Signless}}
  %0 = tcp.scatter_nd %arg0, %arg1, %arg2 {combiner = #tcp<combiner sum>, int_signedness = "Signed"} : tensor<4x2x3xf32>, tensor<?x2xi32>, tensor<?x3xf32> -> tensor<4x2x3xf32>
  return
}

// -----

func.func @scatter_nd_updates_shape(%arg0: tensor<4x2x3xf32>, %arg1: tensor<?x2xi32>) {
  // expected-error @below {{'tcp.scatter_nd' op requires updates of shape ?x3, but got 4x2x3}}
  %0 = tcp.scatter_nd %arg0, %arg1, %arg0 : tensor<4x2x3xf32>, tensor<?x2xi32>, tensor<4x2x3xf32> -> tensor<4x2x3xf32>
  return
}

// -----

func.func @scatter_nd_result_shape(%arg0: tensor<4x2x3xf32>, %arg1: tensor<?x2xi32>, %arg2: tensor<?x3xf32>) {
  // expected-error @below {{'tcp.scatter_nd' op requires a result of shape 4x2x3, but got 4x2x2}}
  %0 = tcp.scatter_nd %arg0, %arg1, %arg2 : tensor<4x2x3xf32>, tensor<?x2xi32>, tensor<?x3xf32> -> tensor<4x2x2xf32>
  return
}

// -----

func.func @scatter_nd_element_type(%arg0: tensor<4x2x3xf32>, %arg1: tensor<?x2xi32>) {
  // expected-error @below {{'tcp.scatter_nd' op requires the same element type throughout, but got 'f32' and 'i32'}}
  %0 = tcp.scatter_nd %arg0, %arg1, %arg1 : tensor<4x2x3xf32>, tensor<?x2xi32>, tensor<?x2xi32> -> tensor<4x2x3xf32>
  return
}

// -----

func.func @scatter_nd_or_of_other_elements(%arg0: tensor<4x2x3xf32>, %arg1: tensor<?x2xi32>, %arg2: tensor<?x3xf32>) {
  // expected-error @below {{'tcp.scatter_nd' op combiner 'or' requires elements of type 'i1', but got 'f32'}}
  %0 = tcp.scatter_nd %arg0, %arg1, %arg2 {combiner = #tcp<combiner or>} : tensor<4x2x3xf32>, tensor<?x2xi32>, tensor<?x3xf32> -> tensor<4x2x3xf32>
  return
}

// -----

func.func @scatter_nd_int_signedness_alone(%arg0: tensor<4x3xi32>, %arg1: tensor<?x1xi64>, %arg2: tensor<?x3xi32>) {
  // expected-error @below {{'tcp.scatter_nd' op attribute 'int_signedness' must not be set without a 'combiner'}}
  %0 = tcp.scatter_nd %arg0, %arg1, %arg2 {int_signedness = #tcp<signedness Signed>} : tensor<4x3xi32>, tensor<?x1xi64>, tensor<?x3xi32> -> tensor<4x3xi32>
  return
}

// -----

func.func @scatter_nd_int_signedness_of_float(%arg0: tensor<4x3xf32>, %arg1: tensor<?x1xi64>, %arg2: tensor<?x3xf32>) {
  // expected-error @below {{'tcp.scatter_nd' op attribute 'int_signedness' must not be set for the float type 'f32'}}
  %0 = tcp.scatter_nd %arg0, %arg1, %arg2 {combiner = #tcp<combiner max>, int_signedness = #tcp<signedness Signed>} : tensor<4x3xf32>, tensor<?x1xi64>, tensor<?x3xf32> -> tensor<4x3xf32>
  return
}

// -----

func.func @scatter_nd_indices_rank(%arg0: tensor<4x3xf32>, %arg1: tensor<i64>, %arg2: tensor<3xf32>) {
  // expected-error @below {{'tcp.scatter_nd' op requires indices of rank 1 or more, but got rank 0}}
  %0 = tcp.scatter_nd %arg0, %arg1, %arg2 : tensor<4x3xf32>, tensor<i64>, tensor<3xf32> -> tensor<4x3xf32>
  return
}

// -----

func.func @scatter_nd_dynamic_depth(%arg0: tensor<4x3xf32>, %arg1: tensor<2x?xi64>, %arg2: tensor<2x3xf32>) {
  // expected-error @below {{'tcp.scatter_nd' op requires indices of a static size along their last axis}}
  %0 = tcp.scatter_nd %arg0, %arg1, %arg2 : tensor<4x3xf32>, tensor<2x?xi64>, tensor<2x3xf32> -> tensor<4x3xf32>
  return
}

// -----

func.func @scatter_nd_too_deep(%arg0: tensor<4x3xf32>, %arg1: tensor<2x3xi64>, %arg2: tensor<2xf32>) {
  // expected-error @below {{'tcp.scatter_nd' op requires indices for at most 2 dimensions, but got 3}}
  %0 = tcp.scatter_nd %arg0, %arg1, %arg2 : tensor<4x3xf32>, tensor<2x3xi64>, tensor<2xf32> -> tensor<4x3xf32>
  return
}

// -----

func.func @nonzero_input_type(%arg0: tensor<4xf32>) {
  // expected-error @below {{'tcp.nonzero' op operand #0 must be ranked tensor of 1-bit signless integer values, but got 'tensor<4xf32>'}}
  %0 = tcp.nonzero %arg0 : tensor<4xf32> -> tensor<?xi64>
  return
}

// -----

func.func @nonzero_input_rank(%arg0: tensor<4x2xi1>) {
  // expected-error @below {{'tcp.nonzero' op requires an input of rank 1, but got rank 2}}
  %0 = tcp.nonzero %arg0 : tensor<4x2xi1> -> tensor<?xi64>
  return
}

// -----

func.func @nonzero_result_size(%arg0: tensor<4xi1>) {
  // expected-error @below {{'tcp.nonzero' op requires a result of type 'tensor<?xi64>', but got 'tensor<4xi64>'}}
  %0 = tcp.nonzero %arg0 : tensor<4xi1> -> tensor<4xi64>
  return
}

// -----

func.func @nonzero_result_type(%arg0: tensor<4xi1>) {
  // expected-error @below {{'tcp.nonzero' op result #0 must be ranked tensor of signless integer values, but got 'tensor<?xf32>'}}
  %0 = tcp.nonzero %arg0 : tensor<4xi1> -> tensor<?xf32>
  return
}
