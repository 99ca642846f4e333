// RUN: tcp-opt %s -eliminate-unused-torch-ops | FileCheck %s

// A chain of unused ops goes, what is used stays, and so does what is there for its effect.

// CHECK-LABEL: func.func @chain(
// CHECK-NOT:     torch.aten.size.int
// CHECK-NOT:     torch.aten.mul.int
// CHECK:         %[[TRUE:.*]] = torch.constant.bool true
// CHECK:         torch.runtime.assert %[[TRUE]]
// CHECK:         %[[TANH:.*]] = torch.aten.tanh
// CHECK:         return %[[TANH]]
func.func @chain(%x: !torch.vtensor<[?],f32>) -> !torch.vtensor<[?],f32> {
  %zero = torch.constant.int 0
  %size = torch.aten.size.int %x, %zero : !torch.vtensor<[?],f32>, !torch.int -> !torch.int
  %square = torch.aten.mul.int %size, %size : !torch.int, !torch.int -> !torch.int
  %true = torch.constant.bool true
  torch.runtime.assert %true, "always"
  %0 = torch.aten.tanh %x : !torch.vtensor<[?],f32> -> !torch.vtensor<[?],f32>
  return %0 : !torch.vtensor<[?],f32>
}
