// RUN: tcp-opt %s -torch-func-backend-type-conversion -convert-torch-to-linalg-beside-tcp -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @cumsum(
// CHECK:         tm_tensor.scan
func.func @cumsum(%x: !torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32> {
  %dim = torch.constant.int 0
  %none = torch.constant.none
  %0 = torch.aten.cumsum %x, %dim, %none : !torch.vtensor<[3],f32>, !torch.int, !torch.none -> !torch.vtensor<[3],f32>
  return %0 : !torch.vtensor<[3],f32>
}

// -----

// All that cannot be lowered is told of at once, and nothing else; the sine between could be.

func.func @nothing_knows(%x: !torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32> {
  // expected-error @below {{my.first(!torch.vtensor<[3],f32>) can be lowered neither to TCP nor to linalg}}
  %0 = torch.operator "torch.my.first"(%x) : (!torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32>
  %1 = torch.aten.sin %0 : !torch.vtensor<[3],f32> -> !torch.vtensor<[3],f32>
  // expected-error @below {{my.second(!torch.vtensor<[3],f32>) can be lowered neither to TCP nor to linalg}}
  %2 = torch.operator "torch.my.second"(%1) : (!torch.vtensor<[3],f32>) -> !torch.vtensor<[3],f32>
  return %2 : !torch.vtensor<[3],f32>
}
