// RUN: tcp-opt %s -convert-torch-to-tcp -canonicalize | FileCheck %s
// RUN: tcp-opt %s --pass-pipeline='builtin.module(func.func(convert-torch-to-tcp,canonicalize))' | FileCheck %s
// RUN: tcp-opt %s -convert-torch-to-tcp=convert-torch-ops=aten.tanh -canonicalize | FileCheck %s --check-prefix=TANH
// RUN: tcp-opt %s --pass-pipeline='builtin.module(convert-torch-to-tcp{convert-torch-ops=torch.aten.sqrt,aten.tanh})' | FileCheck %s --check-prefix=BOTH
// RUN: not tcp-opt %s -convert-torch-to-tcp=convert-torch-ops=aten.tanh,aten.nothing 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// Only ops that TCP has ops for are converted, between casts from and to the types of Torch.

// CHECK-LABEL: func.func @ops(
// CHECK:         %[[X:.*]] = torch_c.to_builtin_tensor %arg0 : !torch.vtensor<[?],f32> -> tensor<?xf32>
// CHECK:         tcp.tanh %[[X]]
// CHECK:         %[[SQRT:.*]] = tcp.sqrt
// CHECK:         %[[TORCH:.*]] = torch_c.from_builtin_tensor %[[SQRT]] : tensor<?xf32> -> !torch.vtensor<[?],f32>
// CHECK:         torch.operator "torch.my.op"(%[[TORCH]])

// TANH:          tcp.tanh
// TANH:          torch.aten.sqrt
// TANH:          torch.operator

// BOTH:          tcp.tanh
// BOTH:          tcp.sqrt

// UNKNOWN:       error: no pattern to TCP is there for: torch.aten.nothing
func.func @ops(%x: !torch.vtensor<[?],f32>) -> !torch.vtensor<[?],f32> {
  %0 = torch.aten.tanh %x : !torch.vtensor<[?],f32> -> !torch.vtensor<[?],f32>
  %1 = torch.aten.sqrt %0 : !torch.vtensor<[?],f32> -> !torch.vtensor<[?],f32>
  %2 = torch.operator "torch.my.op"(%1) : (!torch.vtensor<[?],f32>) -> !torch.vtensor<[?],f32>
  return %2 : !torch.vtensor<[?],f32>
}
