// RUN: tcp-opt %s -convert-torch-to-tcp | FileCheck %s

// CHECK-LABEL: func.func @bind(
// CHECK-NEXT:    %[[S:.*]] = tcp.symbolic_int "s77" {min_val = 2, max_val = 1000} : i64
// CHECK-NEXT:    %[[X:.*]] = torch_c.to_builtin_tensor %arg0
// CHECK-NEXT:    tcp.bind_symbolic_shape %[[X]], [%[[S]]], affine_map<()[s0] -> (s0, 3)> : tensor<?x3xf32>
// CHECK-NEXT:    return
func.func @bind(%x: !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32> {
  %s = torch.symbolic_int "s77" {min_val = 2, max_val = 1000} : !torch.int
  torch.bind_symbolic_shape %x, [%s], affine_map<()[s0] -> (s0, 3)> : !torch.vtensor<[?,3],f32>
  return %x : !torch.vtensor<[?,3],f32>
}
