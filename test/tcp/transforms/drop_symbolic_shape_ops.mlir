// RUN: tcp-opt %s -drop-symbolic-shape-ops -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @tcp(
// CHECK-NEXT:    %[[TANH:.*]] = tcp.tanh
// CHECK-NEXT:    return %[[TANH]]
func.func @tcp(%a: tensor<?xf32>) -> tensor<?xf32> {
  %s = tcp.symbolic_int "s0" {min_val = 2, max_val = 9} : i64
  tcp.bind_symbolic_shape %a, [%s], affine_map<()[s0] -> (s0)> : tensor<?xf32>
  %0 = tcp.tanh %a : tensor<?xf32> -> tensor<?xf32>
  tcp.bind_symbolic_shape %0, [%s], affine_map<()[s0] -> (s0)> : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// CHECK-LABEL: func.func @torch(
// CHECK-NEXT:    return
func.func @torch(%a: !torch.vtensor<[?],f32>) -> !torch.vtensor<[?],f32> {
  %s = torch.symbolic_int "s0" {min_val = 2, max_val = 9} : !torch.int
  torch.bind_symbolic_shape %a, [%s], affine_map<()[s0] -> (s0)> : !torch.vtensor<[?],f32>
  return %a : !torch.vtensor<[?],f32>
}

// -----

// A symbol that something computes with stays.

// CHECK-LABEL: func.func @used(
// CHECK-NEXT:    %[[S:.*]] = tcp.symbolic_int
// CHECK-NEXT:    return %[[S]]
func.func @used(%a: tensor<?xf32>) -> i64 {
  %s = tcp.symbolic_int "s0" {min_val = 2, max_val = 9} : i64
  tcp.bind_symbolic_shape %a, [%s], affine_map<()[s0] -> (s0)> : tensor<?xf32>
  return %s : i64
}
