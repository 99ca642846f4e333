// RUN: tcp-opt %s -split-input-file -verify-diagnostics -tcp-canonicalize -verify-no-tcp-ops | FileCheck %s

// What is expected is no failure, and the other parts go on.
// CHECK:       // -----
// CHECK-LABEL: func.func @well()

func.func @line(%x: tensor<2xi32>) {
  // expected-error@+1 {{'tcp.tanh' op operand #0 must be ranked tensor of floating-point values}}
  %0 = tcp.tanh %x : tensor<2xi32> -> tensor<2xi32>
  return
}

// -----

func.func @below_and_above(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  // expected-error @below {{'tcp.tanh' op has no lowering to linalg}}
  %0 = tcp.tanh %x : tensor<2xf32> -> tensor<2xf32>
  %1 = tcp.neg %x : tensor<2xf32> -> tensor<2xf32>
  // expected-error @above {{'tcp.neg' op has no lowering}}
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// -----

func.func @offsets(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tcp.tanh %x : tensor<2xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
  // expected-error @-2 {{'tcp.tanh' op has no lowering}}
}

// -----

func.func @same_line(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tcp.tanh %x : tensor<2xf32> -> tensor<2xf32> // expected-error {{has no lowering}}
  return %0 : tensor<2xf32>
}

// -----

func.func @regex(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error-re @+1 {{'tcp.{{t[an]+h}}' op has no {{lower|raise}}}}
  %0 = tcp.tanh %x : tensor<2xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// A note belongs to an error.

// expected-note @below {{prior use here}}
func.func @note(%x: tensor<2xf32>) -> tensor<3xf32> {
  // expected-error @below {{use of value '%x' expects different type than prior uses}}
  return %x : tensor<3xf32>
}

// -----

func.func @well() {
  return
}
