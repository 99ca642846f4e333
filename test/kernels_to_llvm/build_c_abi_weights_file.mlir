// RUN: tcp-opt %s "-build-c-abi=abi=pointers weights=file" | FileCheck %s

// A program whose weights come from a file has a function that maps them, and does not run before.

// CHECK-LABEL: func.func @scaled_load_weights(
// CHECK-SAME:      %[[PATH:.*]]: !llvm.ptr) -> i32 attributes {plumbline.program = "scaled"} {
// CHECK:         plumbline.message = "the path of the file of weights is null"
// CHECK:         %[[FOUND:.*]] = llvm.call @scaled.weights.map(%[[PATH]])
// CHECK:         plumbline.message = "the file of weights cannot be opened"
// CHECK:         plumbline.message = "the file of weights is not of the size that the program was compiled for"

// CHECK-LABEL: func.func @scaled(
// CHECK:         llvm.mlir.addressof @scaled.weights.loaded
// CHECK-NEXT:    llvm.load %{{.*}} atomic acquire
// CHECK:         plumbline.message = "the weights are not loaded: call scaled_load_weights first"
// CHECK:         call @scaled_body(

// CHECK-LABEL: func.func @scaled_unchecked(
// CHECK-NOT:     weights.loaded

// CHECK-LABEL: func.func @scaled_packed(
// CHECK:         plumbline.message = "the weights are not loaded: call scaled_load_weights first"
func.func @scaled(%w: memref<2xf32> {plumbline.weight = "w"}, %x: memref<2xf32>) -> memref<2xf32> {
  %0 = memref.alloc() : memref<2xf32>
  memref.copy %w, %0 : memref<2xf32> to memref<2xf32>
  return %0 : memref<2xf32>
}

// One that has no weights is as any other.

// CHECK-NOT:   @plain_load_weights
// CHECK-LABEL: func.func @plain(
// CHECK-NOT:   weights
func.func @plain(%x: memref<2xf32>) -> memref<2xf32> {
  %0 = memref.alloc() : memref<2xf32>
  memref.copy %x, %0 : memref<2xf32> to memref<2xf32>
  return %0 : memref<2xf32>
}
