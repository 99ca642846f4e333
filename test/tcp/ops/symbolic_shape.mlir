// RUN: tcp-opt %s | FileCheck %s
// RUN: tcp-opt %s -mlir-print-op-generic | tcp-opt | FileCheck %s

// CHECK-LABEL: func.func @symbolic_int(
func.func @symbolic_int() {
  // CHECK-NEXT: %0 = tcp.symbolic_int "s0" {min_val = 2, max_val = 9223372036854775806} : i64
  %0 = tcp.symbolic_int "s0" {min_val = 2, max_val = 9223372036854775806} : i64
  return
}

// CHECK-LABEL: func.func @symbolic_int_of_another_width(
func.func @symbolic_int_of_another_width() {
  // CHECK-NEXT: %0 = tcp.symbolic_int "s0" {min_val = 2, max_val = 8} : i32
  %0 = tcp.symbolic_int "s0" {min_val = 2, max_val = 8} : i32
  return
}

// CHECK-LABEL: func.func @symbolic_int_of_one_value(
func.func @symbolic_int_of_one_value() {
  // CHECK-NEXT: %0 = tcp.symbolic_int "s0" {min_val = -5, max_val = -5} {note} : i64
  %0 = tcp.symbolic_int "s0" {min_val = -5, max_val = -5} {note} : i64
  return
}

// CHECK-LABEL: func.func @bind_symbolic_shape(
func.func @bind_symbolic_shape(%arg0: tensor<?x?x3xf32>) {
  // CHECK-NEXT: %0 = tcp.symbolic_int "s0" {min_val = 2, max_val = 8} : i64
  %0 = tcp.symbolic_int "s0" {min_val = 2, max_val = 8} : i64
  // CHECK-NEXT: %1 = tcp.symbolic_int "s1" {min_val = 2, max_val = 8} : i64
  %1 = tcp.symbolic_int "s1" {min_val = 2, max_val = 8} : i64
  // CHECK-NEXT: tcp.bind_symbolic_shape %arg0, [%0, %1], affine_map<()[s0, s1] -> (s0, s1 * 2 + 1, 3)> : tensor<?x?x3xf32>
  tcp.bind_symbolic_shape %arg0, [%0, %1], affine_map<()[s0, s1] -> (s0, s1 * 2 + 1, 3)> : tensor<?x?x3xf32>
  // CHECK-NEXT: tcp.bind_symbolic_shape %arg0, [%1, %0], affine_map<()[s0, s1] -> (s0 floordiv 2, s1 mod 4, 3)> {note} : tensor<?x?x3xf32>
  tcp.bind_symbolic_shape %arg0, [%1, %0], affine_map<()[s0, s1] -> (s0 floordiv 2, s1 mod 4, 3)> {note} : tensor<?x?x3xf32>
  return
}

// CHECK-LABEL: func.func @bind_symbolic_shape_of_scalar(
func.func @bind_symbolic_shape_of_scalar(%arg0: tensor<f32>) {
  // CHECK-NEXT: tcp.bind_symbolic_shape %arg0, [], affine_map<() -> ()> : tensor<f32>
  tcp.bind_symbolic_shape %arg0, [], affine_map<() -> ()> : tensor<f32>
  return
}
