// RUN: tcp-opt %s -torch-verify-tcp-backend-contract -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @legal(
func.func @legal(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = tcp.tanh %x : tensor<?xf32> -> tensor<?xf32>
  %1 = math.tanh %0 : tensor<?xf32>
  return %1 : tensor<?xf32>
}

// -----

// All that is illegal is told of at once: ops, and types of the ops that are not.

// expected-error @below {{'func.func' op is not legal at the TCP stage, as its type '(!torch.vtensor<[3],f32>, memref<3xf32>) -> !torch.vtensor<[3],f32>' is not}}
func.func @illegal(%x: !torch.vtensor<[3],f32>, %m: memref<3xf32>) -> !torch.vtensor<[3],f32> {
  // expected-error @below {{'torch.aten.tanh' op is not legal at the TCP stage, as 'torch' is not}}
  %0 = torch.aten.tanh %x : !torch.vtensor<[3],f32> -> !torch.vtensor<[3],f32>
  // expected-error @below {{'memref.dealloc' op is not legal at the TCP stage, as 'memref' is not}}
  memref.dealloc %m : memref<3xf32>
  return %0 : !torch.vtensor<[3],f32>
}
