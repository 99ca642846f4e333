// RUN: tcp-opt %s -build-c-abi=abi=memref-status -split-input-file -verify-diagnostics | FileCheck %s

// Memrefs are held against what must be so of them, then their pointers; or nothing is.

// CHECK-LABEL: func.func @twice(
// CHECK-SAME:      %[[RESULTS:[^:]*]]: !llvm.ptr, %[[X:[^:]*]]: memref<?xf32, strided<[?], offset: ?>>) -> i32 attributes {plumbline.program = "twice"} {
// CHECK:         call @plumbline_require({{.*}}) {plumbline.message = "argument 0 has size {} in dimension 0, not 3"}
// CHECK:         call @plumbline_require({{.*}}) {plumbline.message = "the strides or the offset of argument 0 are not {{.*}}"}
// CHECK:         %[[PLACE:.*]] = memref.extract_aligned_pointer_as_index %[[X]]
// CHECK:         %[[ADDRESS:.*]] = arith.index_cast %[[PLACE]] : index to i64
// CHECK:         arith.cmpi ne, %[[ADDRESS]]
// CHECK:         call @plumbline_require({{.*}}) {plumbline.message = "argument 0 is null"}
// CHECK:         call @plumbline_require({{.*}}) {plumbline.message = "argument 0 is not aligned to 4 bytes"}
// CHECK:         llvm.ptrtoint %[[RESULTS]] : !llvm.ptr to i64
// CHECK:         call @plumbline_require({{.*}}) {plumbline.message = "results is null"}
// CHECK:         call @twice_body(
// CHECK:         llvm.store %{{.*}}, %[[RESULTS]]
// CHECK:         %[[ZERO:.*]] = llvm.mlir.constant(0 : i32) : i32
// CHECK:         return %[[ZERO]]

// CHECK-LABEL: func.func @twice_unchecked(
// CHECK-NOT:     plumbline_require
// CHECK:         call @twice_body(
// CHECK:         llvm.store
// CHECK-NEXT:    return

// CHECK:       func.func private @twice_error(i32) -> !llvm.ptr attributes {plumbline.errors}
// CHECK-NOT:   _checked

func.func @twice(%x: memref<3xf32>) -> memref<3xf32> {
  %0 = memref.alloc() : memref<3xf32>
  return %0 : memref<3xf32>
}

