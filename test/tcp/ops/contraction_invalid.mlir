// RUN: tcp-opt %s -split-input-file -verify-diagnostics

func.func @matmul_in1_type(%arg0: tensor<2x3xindex>, %arg1: tensor<3x?xf32>) {
  // expected-error @below {{'tcp.matmul' op operand #0 must be ranked tensor of floating-point or signless integer values, but got 'tensor<2x3xindex>'}}
  %0 = tcp.matmul %arg0, %arg1 : tensor<2x3xindex>, tensor<3x?xf32> -> tensor<2x?xf32>
  return
}

// -----

func.func @matmul_in2_type(%arg0: tensor<2x3xf32>, %arg1: tensor<3x?xindex>) {
  // expected-error @below {{'tcp.matmul' op operand #1 must be ranked tensor of floating-point or signless integer values, but got 'tensor<3x?xindex>'}}
  %0 = tcp.matmul %arg0, %arg1 : tensor<2x3xf32>, tensor<3x?xindex> -> tensor<2x?xf32>
  return
}

// -----

func.func @matmul_result_type(%arg0: tensor<2x3xf32>, %arg1: tensor<3x?xf32>) {
  // expected-error @below {{'tcp.matmul' op result #0 must be ranked tensor of floating-point or signless integer values, but got 'tensor<2x?xindex>'}}
  %0 = tcp.matmul %arg0, %arg1 : tensor<2x3xf32>, tensor<3x?xf32> -> tensor<2x?xindex>
  return
}

// -----

func.func @matmul_columns_and_rows(%arg0: tensor<2x3xf32>) {
  // expected-error @below {{'tcp.matmul' op requires as many columns in operand #0 as rows in operand #1, but got 3 and 2}}
  %0 = tcp.matmul %arg0, %arg0 : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @matmul_operands_element_type(%arg0: tensor<2x3xf32>, %arg1: tensor<7x3x4xbf16>) {
  // expected-error @below {{'tcp.matmul' op requires the same element type throughout, but got 'f32' and 'bf16'}}
  %0 = tcp.matmul %arg0, %arg1 : tensor<2x3xf32>, tensor<7x3x4xbf16> -> tensor<2x3xf32>
  return
}

// -----

func.func @matmul_operand_0_rank(%arg0: tensor<?x2x3xbf16>, %arg1: tensor<7x3x4xbf16>) {
  // expected-error @below {{'tcp.matmul' op requires operand #0 of rank 2, but got rank 3}}
  %0 = tcp.matmul %arg0, %arg1 : tensor<?x2x3xbf16>, tensor<7x3x4xbf16> -> tensor<7x2x4xbf16>
  return
}

// -----

func.func @matmul_result_shape(%arg0: tensor<2x3xf32>, %arg1: tensor<3x?xf32>) {
  // expected-error @below {{'tcp.matmul' op requires a result of shape 2x?, but got 3x?}}
  %0 = tcp.matmul %arg0, %arg1 : tensor<2x3xf32>, tensor<3x?xf32> -> tensor<3x?xf32>
  return
}

// -----

func.func @matmul_result_element_type(%arg0: tensor<2x3xf32>, %arg1: tensor<3x?xf32>) {
  // expected-error @below {{'tcp.matmul' op requires the same element type throughout, but got 'f32' and 'f64'}}
  %0 = tcp.matmul %arg0, %arg1 : tensor<2x3xf32>, tensor<3x?xf32> -> tensor<2x?xf64>
  return
}

// -----

func.func @matmul_operand_1_rank(%arg0: tensor<2x3xf32>, %arg1: tensor<1x3x4xf32>) {
  // expected-error @below {{'tcp.matmul' op requires operand #1 of rank 2, but got rank 3}}
  %0 = tcp.matmul %arg0, %arg1 : tensor<2x3xf32>, tensor<1x3x4xf32> -> tensor<2x4xf32>
  return
}

// -----

func.func @batch_matmul_in1_type(%arg0: tensor<?x2x3xindex>, %arg1: tensor<7x3x4xbf16>) {
  // expected-error @below {{'tcp.batch_matmul' op operand #0 must be ranked tensor of floating-point or signless integer values, but got 'tensor<?x2x3xindex>'}}
  %0 = tcp.batch_matmul %arg0, %arg1 : tensor<?x2x3xindex>, tensor<7x3x4xbf16> -> tensor<7x2x4xbf16>
  return
}

// -----

func.func @batch_matmul_in2_type(%arg0: tensor<?x2x3xbf16>, %arg1: tensor<7x3x4xindex>) {
  // expected-error @below {{'tcp.batch_matmul' op operand #1 must be ranked tensor of floating-point or signless integer values, but got 'tensor<7x3x4xindex>'}}
  %0 = tcp.batch_matmul %arg0, %arg1 : tensor<?x2x3xbf16>, tensor<7x3x4xindex> -> tensor<7x2x4xbf16>
  return
}

// -----

func.func @batch_matmul_result_type(%arg0: tensor<?x2x3xbf16>, %arg1: tensor<7x3x4xbf16>) {
  // expected-error @below {{'tcp.batch_matmul' op result #0 must be ranked tensor of floating-point or signless integer values, but got 'tensor<7x2x4xindex>'}}
  %0 = tcp.batch_matmul %arg0, %arg1 : tensor<?x2x3xbf16>, tensor<7x3x4xbf16> -> tensor<7x2x4xindex>
  return
}

// -----

func.func @batch_matmul_operand_0_rank(%arg0: tensor<2x3xf32>, %arg1: tensor<3x?xf32>) {
  // expected-error @below {{'tcp.batch_matmul' op requires operand #0 of rank 3, but got rank 2}}
  %0 = tcp.batch_matmul %arg0, %arg1 : tensor<2x3xf32>, tensor<3x?xf32> -> tensor<2x?xf32>
  return
}

// -----

func.func @batch_matmul_batches(%arg0: tensor<7x3x4xbf16>, %arg1: tensor<6x3x4xbf16>) {
  // expected-error @below {{'tcp.batch_matmul' op requires as many matrices in both operands, but got 7 and 6}}
  %0 = tcp.batch_matmul %arg0, %arg1 : tensor<7x3x4xbf16>, tensor<6x3x4xbf16> -> tensor<7x3x4xbf16>
  return
}

// -----

func.func @batch_matmul_result_shape(%arg0: tensor<?x2x3xbf16>, %arg1: tensor<7x3x4xbf16>) {
  // expected-error @below {{'tcp.batch_matmul' op requires a result of shape 7x2x4, but got 8x2x4}}
  %0 = tcp.batch_matmul %arg0, %arg1 : tensor<?x2x3xbf16>, tensor<7x3x4xbf16> -> tensor<8x2x4xbf16>
  return
}

// -----

func.func @batch_matmul_operand_1_rank(%arg0: tensor<?x2x3xbf16>, %arg1: tensor<3x4xbf16>) {
  // expected-error @below {{'tcp.batch_matmul' op requires operand #1 of rank 3, but got rank 2}}
  %0 = tcp.batch_matmul %arg0, %arg1 : tensor<?x2x3xbf16>, tensor<3x4xbf16> -> tensor<?x2x4xbf16>
  return
}

// -----

func.func @batch_matmul_element_type(%arg0: tensor<?x2x3xbf16>, %arg1: tensor<7x3x4xf16>) {
  // expected-error @below {{'tcp.batch_matmul' op requires the same element type throughout, but got 'bf16' and 'f16'}}
  %0 = tcp.batch_matmul %arg0, %arg1 : tensor<?x2x3xbf16>, tensor<7x3x4xf16> -> tensor<7x2x4xbf16>
  return
}

// -----

func.func @batch_matmul_columns_and_rows(%arg0: tensor<?x2x3xbf16>, %arg1: tensor<7x4x4xbf16>) {
  // expected-error @below {{'tcp.batch_matmul' op requires as many columns in operand #0 as rows in operand #1, but got 3 and 4}}
  %0 = tcp.batch_matmul %arg0, %arg1 : tensor<?x2x3xbf16>, tensor<7x4x4xbf16> -> tensor<7x2x4xbf16>
  return
}
