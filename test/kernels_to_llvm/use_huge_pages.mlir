// RUN: tcp-opt %s -use-huge-pages | FileCheck %s

llvm.func @aligned_alloc(i64, i64) -> !llvm.ptr

// Of little memory nothing is said; of much, and where the size is not known, the system is told.
// CHECK: llvm.func @kernel(%[[UNKNOWN:.*]]: i64)
llvm.func @kernel(%unknown: i64) {
  %alignment = llvm.mlir.constant(64 : i64) : i64
  // CHECK-DAG: %[[LITTLE:.*]] = llvm.mlir.constant(4194303 : i64)
  %little = llvm.mlir.constant(4194303 : i64) : i64
  // CHECK-DAG: %[[MUCH:.*]] = llvm.mlir.constant(4194304 : i64)
  %much = llvm.mlir.constant(4194304 : i64) : i64
  // CHECK:      llvm.call @aligned_alloc(%{{.*}}, %[[LITTLE]])
  // CHECK-NEXT: %[[SECOND:.*]] = llvm.call @aligned_alloc(%{{.*}}, %[[MUCH]])
  // CHECK-NEXT: llvm.call @plumbline_use_huge_pages(%[[SECOND]], %[[MUCH]])
  // CHECK-NEXT: %[[THIRD:.*]] = llvm.call @aligned_alloc(%{{.*}}, %[[UNKNOWN]])
  // CHECK-NEXT: llvm.call @plumbline_use_huge_pages(%[[THIRD]], %[[UNKNOWN]])
  // CHECK-NEXT: llvm.return
  %0 = llvm.call @aligned_alloc(%alignment, %little) : (i64, i64) -> !llvm.ptr
  %1 = llvm.call @aligned_alloc(%alignment, %much) : (i64, i64) -> !llvm.ptr
  %2 = llvm.call @aligned_alloc(%alignment, %unknown) : (i64, i64) -> !llvm.ptr
  llvm.return
}

// CHECK:     llvm.func @madvise(!llvm.ptr, i64, i32) -> i32
// CHECK:     llvm.func internal @plumbline_use_huge_pages(%[[POINTER:.*]]: !llvm.ptr, %[[SIZE:.*]]: i64)
// CHECK-DAG:   %[[LEAST:.*]] = llvm.mlir.constant(4194304 : i64)
// CHECK:       %[[IS_LARGE:.*]] = llvm.icmp "uge" %[[SIZE]], %[[LEAST]]
// CHECK:       llvm.cond_br %[[IS_LARGE]], ^[[ASK:.*]], ^[[DONE:.*]]
// CHECK:     ^[[ASK]]:
// CHECK:       %[[ADDRESS:.*]] = llvm.ptrtoint %[[POINTER]]
// CHECK:       %[[WITHIN_PAGE:.*]] = llvm.add %[[ADDRESS]]
// CHECK:       %[[PAGE:.*]] = llvm.and %[[WITHIN_PAGE]]
// CHECK:       %[[REST:.*]] = llvm.sub %[[SIZE]]
// CHECK:       %[[FIRST:.*]] = llvm.inttoptr %[[PAGE]]
// CHECK:       %[[ADVICE:.*]] = llvm.mlir.constant(14 : i32)
// CHECK:       llvm.call @madvise(%[[FIRST]], %[[REST]], %[[ADVICE]])
// CHECK:     ^[[DONE]]:
// CHECK:       llvm.return
