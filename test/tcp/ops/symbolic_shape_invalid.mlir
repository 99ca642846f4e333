// RUN: tcp-opt %s -split-input-file -verify-diagnostics

func.func @symbolic_int_result_type() {
  // expected-error @below {{'tcp.symbolic_int' op result #0 must be signless integer, but got 'si32'}}
  %0 = tcp.symbolic_int "s0" {min_val = 3, max_val = 4} : si32
  return
}

// -----

// The custom form always has what these lack.
func.func @symbolic_int_without_symbol_name() {
  // expected-error @below {{'tcp.symbolic_int' op requires attribute 'symbol_name'}}
  %0 = "tcp.symbolic_int"() {max_val = 9223372036854775806 : i64, min_val = 2 : i64} : () -> i64
  return
}

// -----

func.func @symbolic_int_symbol_name_type() {
  // expected-error @below {{'tcp.symbolic_int' op attribute 'symbol_name' failed to satisfy constraint: string attribute}}
  %0 = "tcp.symbolic_int"() {max_val = 9223372036854775806 : i64, min_val = 2 : i64, symbol_name = 1 : i64} : () -> i64
  return
}

// -----

func.func @symbolic_int_without_min_val() {
  // expected-error @below {{'tcp.symbolic_int' op requires attribute 'min_val'}}
  %0 = "tcp.symbolic_int"() {max_val = 9223372036854775806 : i64, symbol_name = "s0"} : () -> i64
  return
}

// -----

func.func @symbolic_int_min_val_type() {
  // expected-error @below {{'tcp.symbolic_int' op attribute 'min_val' failed to satisfy constraint: 64-bit signless integer attribute}}
  %0 = "tcp.symbolic_int"() {max_val = 9223372036854775806 : i64, min_val = 1 : i32, symbol_name = "s0"} : () -> i64
  return
}

// -----

func.func @symbolic_int_without_max_val() {
  // expected-error @below {{'tcp.symbolic_int' op requires attribute 'max_val'}}
  %0 = "tcp.symbolic_int"() {symbol_name = "s0", min_val = 3 : i64} : () -> i64
  return
}

// -----

func.func @symbolic_int_max_val_type() {
  // expected-error @below {{'tcp.symbolic_int' op attribute 'max_val' failed to satisfy constraint: 64-bit signless integer attribute}}
  %0 = "tcp.symbolic_int"() {max_val = 1 : i32, min_val = 2 : i64, symbol_name = "s0"} : () -> i64
  return
}

// -----

func.func @symbolic_int_empty_range() {
  // expected-error @below {{'tcp.symbolic_int' op requires 'min_val' no greater than 'max_val', but got 3 and 2}}
  %0 = tcp.symbolic_int "s0" {min_val = 3, max_val = 2} : i64
  return
}

// -----

func.func @bind_symbolic_shape_operand_type(%arg0: f32) {
  // expected-error @below {{'tcp.bind_symbolic_shape' op operand #0 must be ranked tensor of any type values, but got 'f32'}}
  tcp.bind_symbolic_shape %arg0, [], affine_map<() -> ()> : f32
  return
}

// -----

func.func @bind_symbolic_shape_shape_symbols_type(%arg0: tensor<f32>, %arg1: i32) {
  // expected-error @below {{'tcp.bind_symbolic_shape' op operand #1 must be 64-bit signless integer, but got 'i32'}}
  "tcp.bind_symbolic_shape"(%arg0, %arg1) {shape_expressions = affine_map<() -> ()>} : (tensor<f32>, i32) -> ()
  return
}

// -----

func.func @bind_symbolic_shape_without_shape_expressions(%arg0: tensor<f32>) {
  // expected-error @below {{'tcp.bind_symbolic_shape' op requires attribute 'shape_expressions'}}
  "tcp.bind_symbolic_shape"(%arg0) : (tensor<f32>) -> ()
  return
}

// -----

func.func @bind_symbolic_shape_shape_expressions_type(%arg0: tensor<f32>) {
  // expected-error @below {{'tcp.bind_symbolic_shape' op attribute 'shape_expressions' failed to satisfy constraint: AffineMap attribute}}
  "tcp.bind_symbolic_shape"(%arg0) {shape_expressions = 1} : (tensor<f32>) -> ()
  return
}

// -----

func.func @bind_symbolic_shape_dimensions(%arg0: tensor<f32>) {
  // expected-error @below {{'tcp.bind_symbolic_shape' op requires 'shape_expressions' of symbols only, but got 1 dimensions}}
  tcp.bind_symbolic_shape %arg0, [], affine_map<(d0) -> ()> : tensor<f32>
  return
}

// -----

func.func @bind_symbolic_shape_symbols_count(%arg0: tensor<f32>) {
  // expected-error @below {{'tcp.bind_symbolic_shape' op requires 1 shape symbols, as many as 'shape_expressions' has, but got 0}}
  tcp.bind_symbolic_shape %arg0, [], affine_map<()[s0] -> ()> : tensor<f32>
  return
}

// -----

func.func @bind_symbolic_shape_expressions_count(%arg0: tensor<f32>) {
  // expected-error @below {{'tcp.bind_symbolic_shape' op requires 0 expressions, one for each dimension, but got 1}}
  tcp.bind_symbolic_shape %arg0, [], affine_map<() -> (1)> : tensor<f32>
  return
}

// -----

// A symbol is known by the op that makes it.
func.func @bind_symbolic_shape_argument_as_symbol(%arg0: tensor<?x?x3xf32>, %arg1: i64) {
  // expected-error @below {{'tcp.bind_symbolic_shape' op requires shape symbols that 'tcp.symbolic_int' makes}}
  tcp.bind_symbolic_shape %arg0, [%arg1], affine_map<()[s0] -> (s0, s0, 3)> : tensor<?x?x3xf32>
  return
}

// -----

func.func @bind_symbolic_shape_constant_as_symbol(%arg0: tensor<?x?x3xf32>) {
  %0 = arith.constant 1 : i64
  // expected-error @below {{'tcp.bind_symbolic_shape' op requires shape symbols that 'tcp.symbolic_int' makes}}
  tcp.bind_symbolic_shape %arg0, [%0], affine_map<()[s0] -> (s0, s0, 3)> : tensor<?x?x3xf32>
  return
}
