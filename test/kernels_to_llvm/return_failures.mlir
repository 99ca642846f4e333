// RUN: tcp-opt %s -return-failures -split-input-file | FileCheck %s

// What is allocated is entered into a table, from which all of it is given back.

// CHECK-LABEL: llvm.func @f(
// CHECK-SAME:      %[[HOLDS:.*]]: i1, %[[X:.*]]: i64, %[[FAILURE:.*]]: !llvm.ptr) -> !llvm.ptr
// CHECK:         %[[TABLE:.*]] = llvm.alloca %{{.*}} x !llvm.ptr
// CHECK:         "llvm.intr.memset"(%[[TABLE]], %{{.*}}, %{{.*}})
// CHECK:         %[[A:.*]] = llvm.call @aligned_alloc
// CHECK:         %[[LIVES:.*]] = llvm.icmp "ne" %[[A]], %{{.*}} : !llvm.ptr
// CHECK:         %[[NO_MEMORY:.*]] = llvm.mlir.addressof @plumbline_message_[[#MEMORY:]]
// CHECK-NEXT:    llvm.cond_br %[[LIVES]] weights([2000, 1]), ^[[ENTER:.*]], ^[[FAIL:.*]](%[[NO_MEMORY]], %[[X]],
// CHECK:       ^[[ENTER]]:
// CHECK-NEXT:    %[[PLACE:.*]] = llvm.getelementptr %[[TABLE]][0]
// CHECK-NEXT:    llvm.store %[[A]], %[[PLACE]]
// CHECK:         llvm.cond_br %[[HOLDS]] weights([2000, 1]), ^[[CALL:.*]], ^[[FAIL]](%{{.*}}, %[[X]], %[[X]], %[[X]]
// CHECK:       ^[[CALL]]:
// CHECK-NEXT:    llvm.call @g(%[[FAILURE]])
// CHECK-NEXT:    %[[FORMAT:.*]] = llvm.load %[[FAILURE]]
// CHECK:         %[[FINE:.*]] = llvm.icmp "eq" %[[FORMAT]],
// CHECK-NEXT:    llvm.cond_br %[[FINE]] weights([2000, 1]), ^[[DONE:.*]], ^[[GIVE_BACK:.*]]
// CHECK:       ^[[DONE]]:
// CHECK:         llvm.call @free(%[[A]])
// CHECK:       ^[[FAIL]](%[[MESSAGE:.*]]: !llvm.ptr, %[[V0:.*]]: i64, %[[V1:.*]]: i64, %[[V2:.*]]: i64):
// CHECK:         llvm.store %[[MESSAGE]],
// CHECK:         llvm.store %[[V0]],
// CHECK:         llvm.store %[[V1]],
// CHECK:         llvm.store %[[V2]],
// CHECK:         llvm.br ^[[GIVE_BACK]]
// CHECK:       ^[[GIVE_BACK]]:
// CHECK:         llvm.call @plumbline_release(%[[TABLE]], %{{.*}})
// CHECK:         llvm.return

// CHECK-LABEL: llvm.func internal @g(
// CHECK-SAME:      %{{.*}}: !llvm.ptr)
// CHECK:         llvm.call @aligned_alloc

// CHECK-LABEL: llvm.func internal @cannot_fail(
// CHECK-SAME:      %{{.*}}: i64) -> i64

// CHECK:       @plumbline_message_[[#MEMORY]]("there is no memory for %lld bytes\00")
// CHECK-NOT:   @plumbline_require

llvm.func @aligned_alloc(i64, i64) -> !llvm.ptr
llvm.func @free(!llvm.ptr)
llvm.func @plumbline_require(i1, i64, i64, i64)
llvm.func @f(%holds: i1, %x: i64) -> !llvm.ptr {
  %0 = llvm.call @aligned_alloc(%x, %x) : (i64, i64) -> !llvm.ptr
  llvm.call @plumbline_require(%holds, %x, %x, %x) {plumbline.message = "100% of {}"} : (i1, i64, i64, i64) -> ()
  llvm.call @g() : () -> ()
  llvm.call @free(%0) : (!llvm.ptr) -> ()
  llvm.return %0 : !llvm.ptr
}
llvm.func internal @g() {
  %0 = llvm.mlir.constant(64 : i64) : i64
  %1 = llvm.call @aligned_alloc(%0, %0) : (i64, i64) -> !llvm.ptr
  llvm.return
}
llvm.func internal @cannot_fail(%x: i64) -> i64 {
  llvm.return %x : i64
}

// -----

// Where nothing is left to fail after the only allocation, there is nothing to give back.

// CHECK-LABEL: llvm.func @one_allocation(
// CHECK-NOT:     llvm.alloca
// CHECK:         llvm.call @aligned_alloc
// CHECK-NOT:     @plumbline_release
// CHECK:       @plumbline_message_{{[01]}}("100%% of %lld%lld%lld and {}\00")

llvm.func @aligned_alloc(i64, i64) -> !llvm.ptr
llvm.func @plumbline_require(i1, i64, i64, i64)
llvm.func @one_allocation(%holds: i1, %x: i64) -> !llvm.ptr {
  llvm.call @plumbline_require(%holds, %x, %x, %x) {plumbline.message = "100% of {}{}{} and {}"} : (i1, i64, i64, i64) -> ()
  %0 = llvm.call @aligned_alloc(%x, %x) : (i64, i64) -> !llvm.ptr
  llvm.return %0 : !llvm.ptr
}
