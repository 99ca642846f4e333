// RUN: tcp-opt %s | FileCheck %s
// RUN: tcp-opt %s -mlir-print-op-generic | tcp-opt | FileCheck %s

// CHECK-LABEL: func.func @group(
func.func @group(%arg0: tensor<?xf32>) {
  // CHECK-NEXT: %0 = tcp.group {
  // CHECK-NEXT:   %1 = tcp.tanh %arg0 : tensor<?xf32> -> tensor<?xf32>
  // CHECK-NEXT:   tcp.yield %1 : tensor<?xf32>
  // CHECK-NEXT: } : tensor<?xf32>
  %0 = tcp.group {
    %1 = tcp.tanh %arg0 : tensor<?xf32> -> tensor<?xf32>
    tcp.yield %1 : tensor<?xf32>
  } : tensor<?xf32>
  return
}

// CHECK-LABEL: func.func @group_of_two_results(
func.func @group_of_two_results(%arg0: tensor<?xf32>, %arg1: index) {
  // CHECK-NEXT: %0:2 = tcp.group attributes {group_type = "codegen"} {
  // CHECK-NEXT:   %2 = tcp.tanh %arg0 : tensor<?xf32> -> tensor<?xf32>
  // CHECK-NEXT:   tcp.yield %2, %arg1 : tensor<?xf32>, index
  // CHECK-NEXT: } : tensor<?xf32>, index
  %0:2 = tcp.group attributes {group_type = "codegen"} {
    %2 = tcp.tanh %arg0 : tensor<?xf32> -> tensor<?xf32>
    tcp.yield %2, %arg1 : tensor<?xf32>, index
  } : tensor<?xf32>, index
  // CHECK-NEXT: %1 = tcp.tanh %0#0 : tensor<?xf32> -> tensor<?xf32>
  %1 = tcp.tanh %0#0 : tensor<?xf32> -> tensor<?xf32>
  return
}

// CHECK-LABEL: func.func @group_in_group(
func.func @group_in_group() {
  // CHECK-NEXT: tcp.group {
  // CHECK-NEXT:   tcp.group {
  // CHECK-NEXT:     tcp.yield
  // CHECK-NEXT:   }
  // CHECK-NEXT:   tcp.yield
  // CHECK-NEXT: }
  tcp.group {
    tcp.group {
      tcp.yield
    }
    tcp.yield
  }
  return
}

// CHECK-LABEL: func.func @isolated_group(
func.func @isolated_group(%arg0: tensor<?xf32>, %arg1: index) {
  // CHECK-NEXT: %0 = tcp.isolated_group %arg0, %arg1 attributes {group_type = "codegen"} {
  // CHECK-NEXT: ^bb0(%arg2: tensor<?xf32>, %arg3: index):
  // CHECK-NEXT:   %1 = tcp.tanh %arg2 : tensor<?xf32> -> tensor<?xf32>
  // CHECK-NEXT:   tcp.yield %1 : tensor<?xf32>
  // CHECK-NEXT: } : tensor<?xf32>, index -> tensor<?xf32>
  %0 = tcp.isolated_group %arg0, %arg1 attributes {group_type = "codegen"} {
  ^bb0(%arg2: tensor<?xf32>, %arg3: index):
    %1 = tcp.tanh %arg2 : tensor<?xf32> -> tensor<?xf32>
    tcp.yield %1 : tensor<?xf32>
  } : tensor<?xf32>, index -> tensor<?xf32>
  return
}

// CHECK-LABEL: func.func @isolated_group_of_nothing(
func.func @isolated_group_of_nothing() {
  // CHECK-NEXT: tcp.isolated_group {
  // CHECK-NEXT:   tcp.yield
  // CHECK-NEXT: } : () -> ()
  tcp.isolated_group {
    tcp.yield
  } : () -> ()
  return
}

// CHECK-LABEL: func.func @yield_with_attribute(
func.func @yield_with_attribute(%arg0: tensor<?xf32>) {
  // CHECK-NEXT: %0 = tcp.group {
  // CHECK-NEXT:   tcp.yield %arg0 {note} : tensor<?xf32>
  // CHECK-NEXT: } : tensor<?xf32>
  %0 = tcp.group {
    tcp.yield %arg0 {note} : tensor<?xf32>
  } : tensor<?xf32>
  return
}

// CHECK-LABEL: func.func @custom_op(
func.func @custom_op(%arg0: tensor<?xf32>, %arg1: index) {
  // CHECK-NEXT: %0 = tcp.custom_op("torch.aten.gather") %arg0, %arg1 {dim = 0 : i64} : tensor<?xf32>, index -> tensor<?xf32>
  %0 = tcp.custom_op("torch.aten.gather") %arg0, %arg1 {dim = 0 : i64} : tensor<?xf32>, index -> tensor<?xf32>
  return
}

// CHECK-LABEL: func.func @custom_op_without_result(
func.func @custom_op_without_result(%arg0: index) {
  // CHECK-NEXT: tcp.custom_op("a \22b\22") %arg0 : index -> ()
  tcp.custom_op("a \22b\22") %arg0 : index -> ()
  return
}

// CHECK-LABEL: func.func @custom_op_of_two_results(
func.func @custom_op_of_two_results() {
  // CHECK-NEXT: %0:2 = tcp.custom_op("f") : () -> tensor<?xf32>, !llvm.ptr
  %0:2 = tcp.custom_op("f") : () -> tensor<?xf32>, !llvm.ptr
  return
}

// CHECK-LABEL: func.func @custom_op_that_returns_a_function(
func.func @custom_op_that_returns_a_function() {
  // CHECK-NEXT: %0 = tcp.custom_op("f") : () -> (index) -> (i1, tensor<?xf32>)
  %0 = tcp.custom_op("f") : () -> (index) -> (i1, tensor<?xf32>)
  return
}
