// RUN: tcp-opt %s -lower-assertions | FileCheck %s

// Standard error and no buffer: the message is not lost when the program aborts.

// CHECK-LABEL: func.func @two_with_one_message(
// CHECK-SAME:      %[[FIRST:.*]]: i1, %[[SECOND:.*]]: i1)
// CHECK-NEXT:    %[[MESSAGE:.*]] = llvm.mlir.addressof @plumbline_assert.message0
// CHECK-NEXT:    %[[LENGTH:.*]] = llvm.mlir.constant(6 : i64)
// CHECK-NEXT:    llvm.call @plumbline_assert(%[[FIRST]], %[[MESSAGE]], %[[LENGTH]])
// CHECK:         llvm.call @plumbline_assert(%[[SECOND]],
// CHECK:       llvm.func internal @plumbline_assert(
// CHECK:         %[[TWO:.*]] = llvm.mlir.constant(2 : i32)
// CHECK:         llvm.call @write(%[[TWO]],
// CHECK-NEXT:    llvm.call @abort()
// CHECK:       llvm.mlir.global internal constant @plumbline_assert.message0("wrong\0A")
// CHECK-NOT:   message1
func.func @two_with_one_message(%first: i1, %second: i1) {
  cf.assert %first, "wrong"
  cf.assert %second, "wrong"
  return
}
