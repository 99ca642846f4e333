// RUN: tcp-opt %s -tcp-inline-group-ops | FileCheck %s
// RUN: tcp-opt %s -tcp-isolate-group-ops -tcp-inline-group-ops | FileCheck %s

// CHECK-LABEL: func.func @nested(
// CHECK-SAME:      %[[A:.*]]: tensor<?xf32>)
// CHECK-NEXT:    %[[TANH:.*]] = tcp.tanh %[[A]]
// CHECK-NEXT:    %[[NEG:.*]] = tcp.neg %[[TANH]]
// CHECK-NEXT:    return %[[NEG]], %[[TANH]]
func.func @nested(%a: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0, %1 = tcp.group {
    %2 = tcp.group {
      %3 = tcp.tanh %a : tensor<?xf32> -> tensor<?xf32>
      tcp.yield %3 : tensor<?xf32>
    } : tensor<?xf32>
    %4 = tcp.neg %2 : tensor<?xf32> -> tensor<?xf32>
    tcp.yield %4, %2 : tensor<?xf32>, tensor<?xf32>
  } : tensor<?xf32>, tensor<?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?xf32>
}
