// RUN: tcp-opt %s -return-failures -split-input-file | FileCheck %s

// What is allocated is entered into a table, from which all of it is given back.

// CHECK-LABEL: llvm.func internal @f(
// CHECK-SAME:      %[[HOLDS:.*]]: i1, %[[X:.*]]: i64, %[[FAILURE:.*]]: !llvm.ptr) -> !llvm.ptr
// CHECK:         %[[TABLE:.*]] = llvm.alloca %{{.*}} x i64
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
llvm.func internal @f(%holds: i1, %x: i64) -> !llvm.ptr {
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

// CHECK-LABEL: llvm.func internal @one_allocation(
// CHECK-NOT:     llvm.alloca
// CHECK:         llvm.call @aligned_alloc
// CHECK-NOT:     @plumbline_release
// CHECK:       @plumbline_message_{{[01]}}("100%% of %lld%lld%lld and {}\00")

llvm.func @aligned_alloc(i64, i64) -> !llvm.ptr
llvm.func @plumbline_require(i1, i64, i64, i64)
llvm.func internal @one_allocation(%holds: i1, %x: i64) -> !llvm.ptr {
  llvm.call @plumbline_require(%holds, %x, %x, %x) {plumbline.message = "100% of {}{}{} and {}"} : (i1, i64, i64, i64) -> ()
  %0 = llvm.call @aligned_alloc(%x, %x) : (i64, i64) -> !llvm.ptr
  llvm.return %0 : !llvm.ptr
}

// -----

// An entry makes the failure, and makes a report of it.

// CHECK-LABEL: llvm.func @program(
// CHECK-SAME:      %[[HOLDS:.*]]: i1, %[[X:[^:]*]]: i64) {
// CHECK:         %[[FAILURE:.*]] = llvm.alloca %{{.*}} x i64
// CHECK:         llvm.store %{{.*}}, %[[FAILURE]] : !llvm.ptr, !llvm.ptr
// CHECK:         llvm.cond_br %[[HOLDS]] weights([2000, 1]), ^{{.*}}, ^{{.*}}(%{{.*}}, %[[X]], %[[X]], %[[X]], %[[X]] :
// CHECK:         llvm.call @can_fail(%[[HOLDS]], %[[FAILURE]])
// CHECK:         %[[PROGRAM:.*]] = llvm.mlir.addressof @plumbline_program_p
// CHECK-NEXT:    llvm.call @plumbline_end(%[[FAILURE]], %[[PROGRAM]])
// CHECK-NEXT:    llvm.unreachable

// CHECK-LABEL: llvm.func @program_checked(
// CHECK:         %[[MESSAGE:.*]] = llvm.call @plumbline_message(
// CHECK-NEXT:    llvm.return %[[MESSAGE]]

// CHECK-LABEL: llvm.func @cannot_fail(
// CHECK-NEXT:    llvm.return

// CHECK:       llvm.func internal @plumbline_message(
// CHECK-COUNT-2: llvm.call @snprintf(
// CHECK:         llvm.call @malloc(
// CHECK:         llvm.call @plumbline_end(
// CHECK:       llvm.func internal @plumbline_end(
// CHECK-COUNT-3: llvm.call @dprintf(
// CHECK:         llvm.call @abort()
// CHECK:       @plumbline_program_p("p\00")

llvm.func @plumbline_require(i1, i64, i64, i64)
llvm.func @plumbline_require_4(i1, i64, i64, i64, i64)
llvm.func @program(%holds: i1, %x: i64) attributes {plumbline.program = "p"} {
  llvm.call @plumbline_require_4(%holds, %x, %x, %x, %x) {plumbline.message = "{} {} {} {}"} : (i1, i64, i64, i64, i64) -> ()
  llvm.call @can_fail(%holds) : (i1) -> ()
  llvm.return
}
llvm.func @program_checked(%holds: i1) -> !llvm.ptr attributes {plumbline.program = "p"} {
  %0 = llvm.mlir.zero : !llvm.ptr
  llvm.call @can_fail(%holds) : (i1) -> ()
  llvm.return %0 : !llvm.ptr
}
llvm.func @cannot_fail() attributes {plumbline.program = "p"} {
  llvm.return
}
llvm.func internal @can_fail(%holds: i1) {
  %0 = llvm.mlir.constant(0 : i64) : i64
  llvm.call @plumbline_require(%holds, %0, %0, %0) {plumbline.message = "no"} : (i1, i64, i64, i64) -> ()
  llvm.return
}
