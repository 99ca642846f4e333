// RUN: tcp-opt %s -tcp-to-llvm-pipeline -split-input-file -verify-diagnostics | FileCheck %s
// RUN: tcp-opt %s -tcp-fuse-elementwise-ops -tcp-isolate-group-ops -tcp-to-llvm-pipeline -split-input-file -verify-diagnostics | FileCheck %s

// The result goes to where the caller says; one loop, in a kernel of its own, computes both ops.

// CHECK:       llvm.func @aligned_alloc(
// CHECK-LABEL: llvm.func @chain(
// CHECK-SAME:      %{{.*}}: !llvm.ptr {llvm.sret = !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>}
// CHECK:         llvm.call @chain_body(
// CHECK:         llvm.store
// CHECK:       llvm.func internal @chain_body(
// CHECK:         llvm.call @aligned_alloc(
// CHECK:         llvm.call @tanh_neg(
// CHECK:       llvm.func internal @tanh_neg(
// CHECK-SAME:      llvm.noalias
// CHECK:         llvm.cond_br
// CHECK:         %[[TANH:.*]] = llvm.intr.copysign
// CHECK-NEXT:    llvm.fneg %[[TANH]]
// CHECK-NOT:     llvm.cond_br
// CHECK:         llvm.return
func.func @chain(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = tcp.tanh %x : tensor<?xf32> -> tensor<?xf32>
  %1 = tcp.neg %0 : tensor<?xf32> -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// -----

func.func @all_that_has_no_lowering(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  // expected-error @below {{'tcp.custom_op' op has no lowering to linalg}}
  %0 = tcp.custom_op("first") %x : tensor<2xf32> -> tensor<2xf32>
  // expected-error @below {{'tcp.custom_op' op has no lowering to linalg}}
  %1 = tcp.custom_op("second") %x : tensor<2xf32> -> tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}
