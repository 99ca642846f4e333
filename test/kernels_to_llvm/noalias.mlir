// RUN: tcp-opt %s -note-noalias | FileCheck %s --check-prefix=NOTED
// RUN: tcp-opt %s -note-noalias -convert-func-to-llvm -attach-noalias | FileCheck %s

// The pointers to elements, as LLVM counts arguments.

// NOTED-LABEL: func.func private @kernel(
// NOTED-SAME:    plumbline.noalias = array<i64: 1, 12>

// CHECK-LABEL: llvm.func @kernel(
// CHECK-SAME:      %arg0: !llvm.ptr, %arg1: !llvm.ptr {llvm.noalias}, %arg2: i64, %arg3: i64, %arg4: i64,
// CHECK-SAME:      %arg5: !llvm.ptr, %arg6: !llvm.ptr, %arg7: i64, %arg8: i64, %arg9: i64, %arg10: f32,
// CHECK-SAME:      %arg11: !llvm.ptr, %arg12: !llvm.ptr {llvm.noalias}, %arg13: i64, %arg14: i64, %arg15: i64
// CHECK-SAME:      no_inline
func.func private @kernel(%x: memref<2xf32> {llvm.noalias}, %y: memref<2xf32>, %s: f32, %z: memref<2xf32> {llvm.noalias}) attributes {no_inline} {
  return
}

// A small one that is inlined stays so.
// CHECK-LABEL: llvm.func @inlined(
// CHECK-SAME:      %arg1: !llvm.ptr {llvm.noalias}
// CHECK-SAME:      always_inline
// CHECK-NOT:       no_inline
func.func private @inlined(%x: memref<2xf32> {llvm.noalias}) attributes {always_inline} {
  return
}
