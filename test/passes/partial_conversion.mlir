// RUN: tcp-opt %s -convert-torch-to-tcp -tcp-fuse-elementwise-ops | FileCheck %s

// Of ops that are converted no casts are left between one and the next, so that they are grouped
// where others are not converted.

// CHECK-LABEL: func.func @f(
// CHECK-NEXT:    %[[X:.*]] = torch_c.to_builtin_tensor %arg0
// CHECK-NEXT:    %[[GROUP:.*]] = tcp.group {
// CHECK-NEXT:      %[[TANH:.*]] = tcp.tanh %[[X]]
// CHECK-NEXT:      %[[NEG:.*]] = tcp.neg %[[TANH]]
// CHECK-NEXT:      %[[ABS:.*]] = tcp.abs %[[NEG]]
// CHECK-NEXT:      tcp.mul %[[ABS]], %[[NEG]]
// CHECK-NEXT:      tcp.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[OUT:.*]] = torch_c.from_builtin_tensor %[[GROUP]]
// CHECK-NEXT:    torch.operator "torch.my.op"(%[[OUT]])
!t = !torch.vtensor<[?],f32>
func.func @f(%x: !t) -> !t {
  %0 = torch.aten.tanh %x : !t -> !t
  %1 = torch.aten.neg %0 : !t -> !t
  %2 = torch.aten.abs %1 : !t -> !t
  %3 = torch.aten.mul.Tensor %2, %1 : !t, !t -> !t
  %4 = torch.operator "torch.my.op"(%3) : (!t) -> !t
  return %4 : !t
}
