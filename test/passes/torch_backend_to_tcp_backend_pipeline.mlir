// RUN: tcp-opt %s -torch-backend-to-tcp-backend-pipeline -split-input-file -verify-diagnostics | FileCheck %s
// RUN: tcp-opt %s --pass-pipeline='builtin.module(torch-backend-to-tcp-backend-pipeline)' -split-input-file -verify-diagnostics | FileCheck %s

// Mixed ranks: new dimensions, then stretched ones; sizes are those of the operand that has them.
// What dynamic sizes are called stays.

// CHECK-LABEL: func.func @broadcast_add(
// CHECK-SAME:      %[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<?xf32>) -> tensor<?xf32>
// CHECK-NEXT:    %[[C0:.*]] = arith.constant 0 : index
// CHECK-NEXT:    %[[S0:.*]] = tcp.symbolic_int "s0" {min_val = 2, max_val = 1000} : i64
// CHECK-NEXT:    tcp.bind_symbolic_shape %[[B]], [%[[S0]]], affine_map<()[s0] -> (s0)> : tensor<?xf32>
// CHECK-NEXT:    %[[EXPANDED:.*]] = tensor.expand_shape %[[A]] [] output_shape [1]
// CHECK-NEXT:    %[[SIZE:.*]] = tensor.dim %[[B]], %[[C0]]
// CHECK-NEXT:    %[[STRETCHED:.*]] = tcp.broadcast %[[EXPANDED]], %[[SIZE]] {axes = [0]} : tensor<1xf32>, index -> tensor<?xf32>
// CHECK-NEXT:    %[[SUM:.*]] = tcp.add %[[STRETCHED]], %[[B]]
// CHECK-NEXT:    tcp.bind_symbolic_shape %[[SUM]], [%[[S0]]], affine_map<()[s0] -> (s0)> : tensor<?xf32>
// CHECK-NEXT:    return %[[SUM]] : tensor<?xf32>
func.func @broadcast_add(%a: !torch.vtensor<[],f32>, %b: !torch.vtensor<[?],f32>) -> !torch.vtensor<[?],f32> {
  %s = torch.symbolic_int "s0" {min_val = 2, max_val = 1000} : !torch.int
  torch.bind_symbolic_shape %b, [%s], affine_map<()[s0] -> (s0)> : !torch.vtensor<[?],f32>
  %int1 = torch.constant.int 1
  %0 = torch.aten.add.Tensor %a, %b, %int1 : !torch.vtensor<[],f32>, !torch.vtensor<[?],f32>, !torch.int -> !torch.vtensor<[?],f32>
  torch.bind_symbolic_shape %0, [%s], affine_map<()[s0] -> (s0)> : !torch.vtensor<[?],f32>
  return %0 : !torch.vtensor<[?],f32>
}

// -----

// What TCP has no op for stands beside it, in linalg and its kin.

// CHECK-LABEL: func.func @beside(
// CHECK:         tcp.tanh
// CHECK:         tm_tensor.sort
// CHECK-NOT:     torch
func.func @beside(%x: !torch.vtensor<[3],f32>) -> (!torch.vtensor<[3],f32>, !torch.vtensor<[3],si64>) {
  %dim = torch.constant.int 0
  %false = torch.constant.bool false
  %0 = torch.aten.tanh %x : !torch.vtensor<[3],f32> -> !torch.vtensor<[3],f32>
  %1, %2 = torch.aten.sort %0, %dim, %false : !torch.vtensor<[3],f32>, !torch.int, !torch.bool -> !torch.vtensor<[3],f32>, !torch.vtensor<[3],si64>
  return %1, %2 : !torch.vtensor<[3],f32>, !torch.vtensor<[3],si64>
}

// -----

func.func @refused(%x: !torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32> {
  // expected-error @below {{my.op(!torch.vtensor<[3],f32>) can be lowered neither to TCP nor to linalg}}
  %0 = torch.operator "torch.my.op"(%x) : (!torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32>
  %1 = torch.aten.tanh %0 : !torch.vtensor<[3],f32> -> !torch.vtensor<[3],f32>
  return %1 : !torch.vtensor<[3],f32>
}
