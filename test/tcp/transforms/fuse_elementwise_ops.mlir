// RUN: tcp-opt %s -tcp-fuse-elementwise-ops -split-input-file | FileCheck %s

// Two producers, one of which serves the other, go into the group of the op that both serve.

// CHECK-LABEL: func.func @chain(
// CHECK-SAME:      %[[A:.*]]: tensor<?xf32>, %[[B:.*]]: tensor<?xf32>)
// CHECK:         %[[GROUP:.*]] = tcp.group {
// CHECK:           %[[TANH:.*]] = tcp.tanh %[[A]]
// CHECK:           %[[ADD:.*]] = tcp.add %[[TANH]], %[[B]]
// CHECK:           %[[MUL:.*]] = tcp.mul %[[ADD]], %[[TANH]]
// CHECK:           tcp.yield %[[MUL]] : tensor<?xf32>
// CHECK:         } : tensor<?xf32>
// CHECK:         return %[[GROUP]]
func.func @chain(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %0 = tcp.tanh %a : tensor<?xf32> -> tensor<?xf32>
  %1 = tcp.add %0, %b : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  %2 = tcp.mul %1, %0 : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  return %2 : tensor<?xf32>
}

// -----

// A producer that is used outside as well stays, and what is used by one op only goes along.

// CHECK-LABEL: func.func @used_outside(
// CHECK:         %[[TANH:.*]] = tcp.tanh
// CHECK:         %[[GROUP:.*]] = tcp.group {
// CHECK-NEXT:      tcp.neg
// CHECK-NEXT:      tcp.mul
// CHECK-NEXT:      tcp.yield
// CHECK:         return %[[TANH]], %[[GROUP]]
func.func @used_outside(%a: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = tcp.tanh %a : tensor<?xf32> -> tensor<?xf32>
  %1 = tcp.neg %0 : tensor<?xf32> -> tensor<?xf32>
  %2 = tcp.mul %1, %0 : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  return %0, %2 : tensor<?xf32>, tensor<?xf32>
}

// -----

// A producer whose uses are in two groups stays out of both.

// CHECK-LABEL: func.func @two_consumers(
// CHECK-NOT:     tcp.group
// CHECK:         return
func.func @two_consumers(%a: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = tcp.tanh %a : tensor<?xf32> -> tensor<?xf32>
  %1 = tcp.neg %0 : tensor<?xf32> -> tensor<?xf32>
  %2 = tcp.abs %0 : tensor<?xf32> -> tensor<?xf32>
  return %1, %2 : tensor<?xf32>, tensor<?xf32>
}

// -----

// So does one whose uses are in groups that others made.

// CHECK-LABEL: func.func @two_groups(
// CHECK-NEXT:    tcp.tanh
// CHECK-NEXT:    tcp.group {
// CHECK-NEXT:      tcp.neg
// CHECK-NEXT:      tcp.abs
// CHECK-NEXT:      tcp.yield
// CHECK:         tcp.group {
// CHECK-NEXT:      tcp.ceil
// CHECK-NEXT:      tcp.floor
// CHECK-NEXT:      tcp.yield
func.func @two_groups(%a: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = tcp.tanh %a : tensor<?xf32> -> tensor<?xf32>
  %1 = tcp.neg %0 : tensor<?xf32> -> tensor<?xf32>
  %2 = tcp.abs %1 : tensor<?xf32> -> tensor<?xf32>
  %3 = tcp.ceil %0 : tensor<?xf32> -> tensor<?xf32>
  %4 = tcp.floor %3 : tensor<?xf32> -> tensor<?xf32>
  return %2, %4 : tensor<?xf32>, tensor<?xf32>
}

// -----

// What is not elementwise goes into no group, neither as a producer nor as a consumer.

// CHECK-LABEL: func.func @not_elementwise(
// CHECK-NOT:     tcp.group
// CHECK:         return
func.func @not_elementwise(%a: tensor<1xf32>, %d: index) -> tensor<?xf32> {
  %0 = tcp.tanh %a : tensor<1xf32> -> tensor<1xf32>
  %1 = tcp.broadcast %0, %d {axes = [0]} : tensor<1xf32>, index -> tensor<?xf32>
  %2 = tcp.neg %1 : tensor<?xf32> -> tensor<?xf32>
  return %2 : tensor<?xf32>
}

// -----

// What binds symbolic sizes to a value goes along with the op that makes the value, and binds those
// of the group's result outside.

// CHECK-LABEL: func.func @symbolic_shapes(
// CHECK:         %[[S:.*]] = tcp.symbolic_int
// CHECK:         tcp.bind_symbolic_shape %arg0, [%[[S]]]
// CHECK:         %[[GROUP:.*]] = tcp.group {
// CHECK-NEXT:      %[[TANH:.*]] = tcp.tanh
// CHECK-NEXT:      tcp.bind_symbolic_shape %[[TANH]], [%[[S]]], affine_map<()[s0] -> (s0)>
// CHECK-NEXT:      %[[NEG:.*]] = tcp.neg %[[TANH]]
// CHECK-NEXT:      tcp.yield %[[NEG]]
// CHECK-NEXT:    }
// CHECK-NEXT:    tcp.bind_symbolic_shape %[[GROUP]], [%[[S]]], affine_map<()[s0] -> (s0)>
func.func @symbolic_shapes(%a: tensor<?xf32>) -> tensor<?xf32> {
  %s = tcp.symbolic_int "s0" {min_val = 2, max_val = 9} : i64
  tcp.bind_symbolic_shape %a, [%s], affine_map<()[s0] -> (s0)> : tensor<?xf32>
  %0 = tcp.tanh %a : tensor<?xf32> -> tensor<?xf32>
  tcp.bind_symbolic_shape %0, [%s], affine_map<()[s0] -> (s0)> : tensor<?xf32>
  %1 = tcp.neg %0 : tensor<?xf32> -> tensor<?xf32>
  tcp.bind_symbolic_shape %1, [%s], affine_map<()[s0] -> (s0)> : tensor<?xf32>
  return %1 : tensor<?xf32>
}

// -----

// Ops of other dialects that compute elementwise on tensors go along.

// CHECK-LABEL: func.func @beside_tcp(
// CHECK:         tcp.group {
// CHECK-NEXT:      tcp.tanh
// CHECK-NEXT:      math.cbrt
// CHECK-NEXT:      arith.negf
// CHECK-NEXT:      tcp.add
// CHECK-NEXT:      tcp.yield
func.func @beside_tcp(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = tcp.tanh %x : tensor<?xf32> -> tensor<?xf32>
  %1 = math.cbrt %0 : tensor<?xf32>
  %2 = arith.negf %1 : tensor<?xf32>
  %3 = tcp.add %2, %y : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  return %3 : tensor<?xf32>
}
