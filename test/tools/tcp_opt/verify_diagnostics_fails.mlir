// RUN: not tcp-opt %s -verify-diagnostics -split-input-file -verify-no-tcp-ops 2>&1 >/dev/null | FileCheck %s

// CHECK:      fails.mlir:{{[0-9]+}}:8: error: unexpected error: 'tcp.tanh' op has no lowering
// CHECK-NEXT:   %0 = tcp.tanh %x
// CHECK-NEXT:        ^
func.func @unexpected(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tcp.tanh %x : tensor<2xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// CHECK:      fails.mlir:{{[0-9]+}}:6: error: expected error "something else" was not produced
// CHECK-NEXT:   // expected-error {{{{}}something else{{}}}}
// CHECK-NEXT:      ^
func.func @missing() {
  // expected-error {{something else}}
  return
}

// -----

// An error is no warning, and one that is on another line is another one.

// CHECK:      error: unexpected error: 'tcp.tanh' op
// CHECK:      error: expected warning "has no lowering" was not produced
// CHECK:      error: expected error "has no lowering" was not produced
// CHECK-NOT:  error:
func.func @mistaken(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-warning @+1 {{has no lowering}}
  %0 = tcp.tanh %x : tensor<2xf32> -> tensor<2xf32>
  // expected-error @+1 {{has no lowering}}
  return %0 : tensor<2xf32>
}
