// RUN: tcp-opt %s -tcp-isolate-group-ops -split-input-file | FileCheck %s

// Values from around become operands, in the order of their first use; constants are cloned in.

// CHECK-LABEL: func.func @captures(
// CHECK-SAME:      %[[A:.*]]: tensor<?xf32>, %[[B:.*]]: tensor<?xf32>)
// CHECK:         %[[GROUP:.*]] = tcp.isolated_group %[[B]], %[[A]] {
// CHECK:         ^bb0(%[[INB:.*]]: tensor<?xf32>, %[[INA:.*]]: tensor<?xf32>):
// CHECK:           %[[C:.*]] = tcp.const {value = dense<2.000000e+00> : tensor<3xf32>}
// CHECK:           %[[ADD:.*]] = tcp.add %[[INB]], %[[INA]]
// CHECK:           %[[MUL:.*]] = tcp.mul %[[ADD]], %[[C]]
// CHECK:           tcp.yield %[[MUL]] : tensor<?xf32>
// CHECK:         } : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
// CHECK:         return %[[GROUP]]
func.func @captures(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %c = tcp.const {value = dense<2.0> : tensor<3xf32>} : tensor<3xf32>
  %0 = tcp.group {
    %1 = tcp.add %b, %a : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
    %2 = tcp.mul %1, %c : tensor<?xf32>, tensor<3xf32> -> tensor<?xf32>
    tcp.yield %2 : tensor<?xf32>
  } : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// Symbolic sizes are cloned in as constants are; attributes stay.

// CHECK-LABEL: func.func @symbols(
// CHECK:         tcp.isolated_group %arg0 attributes {kind = "mine"} {
// CHECK-NEXT:    ^bb0(%[[A:.*]]: tensor<?xf32>):
// CHECK-NEXT:      %[[S:.*]] = tcp.symbolic_int "s0"
// CHECK-NEXT:      %[[TANH:.*]] = tcp.tanh %[[A]]
// CHECK-NEXT:      tcp.bind_symbolic_shape %[[TANH]], [%[[S]]]
func.func @symbols(%a: tensor<?xf32>) -> tensor<?xf32> {
  %s = tcp.symbolic_int "s0" {min_val = 2, max_val = 9} : i64
  %0 = tcp.group attributes {kind = "mine"} {
    %1 = tcp.tanh %a : tensor<?xf32> -> tensor<?xf32>
    tcp.bind_symbolic_shape %1, [%s], affine_map<()[s0] -> (s0)> : tensor<?xf32>
    tcp.yield %1 : tensor<?xf32>
  } : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// A group within a group: the inner one's operand is the outer one's argument.

// CHECK-LABEL: func.func @nested(
// CHECK-SAME:      %[[A:.*]]: tensor<?xf32>)
// CHECK:         tcp.isolated_group %[[A]] {
// CHECK-NEXT:    ^bb0(%[[OUTER:.*]]: tensor<?xf32>):
// CHECK-NEXT:      tcp.isolated_group %[[OUTER]] {
// CHECK-NEXT:      ^bb0(%[[INNER:.*]]: tensor<?xf32>):
// CHECK-NEXT:        tcp.tanh %[[INNER]]
func.func @nested(%a: tensor<?xf32>) -> tensor<?xf32> {
  %0 = tcp.group {
    %1 = tcp.group {
      %2 = tcp.tanh %a : tensor<?xf32> -> tensor<?xf32>
      tcp.yield %2 : tensor<?xf32>
    } : tensor<?xf32>
    tcp.yield %1 : tensor<?xf32>
  } : tensor<?xf32>
  return %0 : tensor<?xf32>
}
