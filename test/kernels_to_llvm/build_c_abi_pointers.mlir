// RUN: tcp-opt %s -build-c-abi=abi=pointers -split-input-file -verify-diagnostics | FileCheck %s

// Pointers are held against what must be so of them, sizes against their ranges; or not.

// CHECK-LABEL: func.func @f(
// CHECK-SAME:      %[[X:[^:]*]]: !llvm.ptr, %{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: !llvm.ptr, %[[N:[^:]*]]: i64) -> i32 attributes {plumbline.program = "f"} {
// CHECK:         call @plumbline_require({{.*}}) {plumbline.message = "n is {}; it is at least 1"}
// CHECK:         %[[ADDRESS:.*]] = llvm.ptrtoint %[[X]] : !llvm.ptr to i64
// CHECK:         arith.cmpi ne, %[[ADDRESS]]
// CHECK:         call @plumbline_require({{.*}}) {plumbline.message = "arg0 is null"}
// CHECK:         call @plumbline_require({{.*}}) {plumbline.message = "arg0 is not aligned to 4 bytes"}
// CHECK:         call @plumbline_require({{.*}}) {plumbline.message = "out1 is null"}
// CHECK:         call @f_body(
// CHECK:         %[[ZERO:.*]] = llvm.mlir.constant(0 : i32) : i32
// CHECK:         return %[[ZERO]]

// CHECK-LABEL: func.func @f_unchecked(
// CHECK-NOT:     plumbline_require
// CHECK:         call @f_body(
// CHECK-NEXT:    return

// All arguments are words; what is allocated for a result alone is put where the caller says.

// CHECK-LABEL: func.func @f_packed(
// CHECK-SAME:      %[[WORDS:.*]]: !llvm.ptr) -> !llvm.ptr attributes {plumbline.program = "f"} {
// CHECK:         %[[X_PLACE:.*]] = llvm.getelementptr %[[WORDS]][0] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK:         %[[X:.*]] = llvm.load %[[X_PLACE]] : !llvm.ptr -> !llvm.ptr
// CHECK:         llvm.getelementptr %[[WORDS]][2] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK:         %[[N_PLACE:.*]] = llvm.getelementptr %[[WORDS]][3] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK:         %[[N:.*]] = llvm.load %[[N_PLACE]] : !llvm.ptr -> i64
// CHECK:         call @f_body(%{{.*}}, %{{.*}}, %{{.*}}) : (memref<?x4xf32>, memref<?xi8>, memref<?xi8>) -> ()
// CHECK:         %[[NULL:.*]] = llvm.mlir.zero : !llvm.ptr
// CHECK:         return %[[NULL]]

// CHECK:       func.func private @f_error(i32) -> !llvm.ptr attributes {plumbline.errors}

// CHECK-LABEL: func.func @f_output_shape(
// CHECK-SAME:      %[[OUTPUT:[^:]*]]: i32, %[[N:[^:]*]]: i64, %[[PLACE:[^:]*]]: !llvm.ptr) {
// CHECK:         %[[SAME:.*]] = arith.cmpi eq, %[[OUTPUT]]
// CHECK:         scf.if %[[SAME]] {
// CHECK:           llvm.getelementptr %[[PLACE]][0]
// CHECK:           llvm.getelementptr %[[PLACE]][1]

// CHECK-LABEL: func.func private @f_body(
// CHECK-SAME:      %[[X:.*]]: memref<?x4xf32>, %[[FIRST:.*]]: memref<?xi8>, %[[SECOND:.*]]: memref<?xi8>)
// CHECK-NOT:     memref.alloc
// CHECK:         %[[RESULT:.*]] = memref.view %[[FIRST]][%{{.*}}][%{{.*}}] : memref<?xi8> to memref<?x4xf32>
// CHECK:         memref.store %{{.*}}, %[[RESULT]]
// The second result looks at the first: it is a copy.
// CHECK:         %[[FLAT:.*]] = memref.collapse_shape %[[RESULT]]
// CHECK:         %[[COPY:.*]] = memref.view %[[SECOND]][%{{.*}}][%{{.*}}] : memref<?xi8> to memref<?xf32>
// CHECK:         scf.for %[[I:.*]] =
// CHECK:           %[[VALUE:.*]] = memref.load %[[FLAT]][%[[I]]]
// CHECK:           memref.store %[[VALUE]], %[[COPY]][%[[I]]]
// CHECK-NOT:     memref.dealloc
// CHECK:         return
func.func @f(%x: memref<?x4xf32> {plumbline.shape = affine_map<()[s0] -> (s0, 4)>}) -> (memref<?x4xf32>, memref<?xf32>) attributes {plumbline.symbols = [{name = "n", min_val = 1 : i64, max_val = 9223372036854775807 : i64}]} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x4xf32>
  %0 = memref.alloc(%n) : memref<?x4xf32>
  %1 = memref.load %x[%c0, %c0] : memref<?x4xf32>
  memref.store %1, %0[%c0, %c0] : memref<?x4xf32>
  %2 = memref.collapse_shape %0 [[0, 1]] : memref<?x4xf32> into memref<?xf32>
  return %0, %2 : memref<?x4xf32>, memref<?xf32>
}

// -----

// A part of a later result is a copy, and its memory the caller's; parts of one allocation give it back once.

// CHECK-LABEL: func.func private @parts_body(
// CHECK-SAME:      memref<?xi8>, %[[WHOLE:.*]]: memref<?xi8>, %{{.*}}: memref<?xi8>, %{{.*}}: memref<?xi8>)
// CHECK:         %[[OTHER:.*]] = memref.alloc() : memref<3x2xf32>
// CHECK:         %[[PUT:.*]] = memref.view %[[WHOLE]][%{{.*}}][] : memref<?xi8> to memref<4x2xf32>
// CHECK-NOT:     memref.dealloc %[[PUT]]
// CHECK:         memref.dealloc %[[OTHER]] : memref<3x2xf32>
// CHECK-NEXT:    return
func.func @parts() -> (memref<2xf32>, memref<4x2xf32>, memref<2xf32>, memref<2xf32>) {
  %0 = memref.alloc() : memref<3x2xf32>
  %1 = memref.alloc() : memref<4x2xf32>
  %2 = memref.subview %1[0, 0] [1, 2] [1, 1] : memref<4x2xf32> to memref<2xf32, strided<[1]>>
  %3 = memref.cast %2 : memref<2xf32, strided<[1]>> to memref<2xf32>
  %4 = memref.subview %0[0, 0] [1, 2] [1, 1] : memref<3x2xf32> to memref<2xf32, strided<[1]>>
  %5 = memref.cast %4 : memref<2xf32, strided<[1]>> to memref<2xf32>
  return %3, %1, %5, %5 : memref<2xf32>, memref<4x2xf32>, memref<2xf32>, memref<2xf32>
}

// -----

// What comes out of branches is copied and given back, each allocation once.

// CHECK-LABEL: func.func private @branches_body(
// CHECK:         %[[R:.*]]:2 = scf.if
// CHECK:         memref.load %[[R]]#0
// CHECK:         memref.load %[[R]]#1
// CHECK:         %[[A:.*]] = memref.extract_aligned_pointer_as_index %[[R]]#0
// CHECK:         %[[B:.*]] = memref.extract_aligned_pointer_as_index %[[R]]#1
// CHECK:         memref.dealloc %[[R]]#0
// CHECK:         %[[NEW:.*]] = arith.cmpi ne, %[[B]], %[[A]]
// CHECK:         scf.if %[[NEW]] {
// CHECK-NEXT:      memref.dealloc %[[R]]#1
func.func @branches(%x: memref<i1>) -> (memref<3xf32>, memref<3xf32>) {
  %c = memref.load %x[] : memref<i1>
  %0:2 = scf.if %c -> (memref<3xf32>, memref<3xf32>) {
    %1 = memref.alloc() : memref<3xf32>
    scf.yield %1, %1 : memref<3xf32>, memref<3xf32>
  } else {
    %1 = memref.alloc() : memref<3xf32>
    %2 = memref.alloc() : memref<3xf32>
    scf.yield %1, %2 : memref<3xf32>, memref<3xf32>
  }
  return %0#0, %0#1 : memref<3xf32>, memref<3xf32>
}

// -----

// expected-error @below {{func.func @measured: the sizes of result 0 do not follow from those of the arguments by a formula (it is computed by memref.load), nor are they bounded by one, so that no caller can bring memory for it}}
module {
  func.func @measured(%x: memref<i64>) -> memref<?xf32> {
    %0 = memref.load %x[] : memref<i64>
    %n = arith.index_cast %0 : i64 to index
    %1 = memref.alloc(%n) : memref<?xf32>
    return %1 : memref<?xf32>
  }
}

// -----

// What a size that depends on values is at most follows from the sizes of arguments, and what it is
// goes where the caller says.

// CHECK-LABEL: func.func @counted(
// CHECK-SAME:    %[[POINTER:[^ ]+]]: !llvm.ptr, %{{[^ ]+}}: !llvm.ptr, %[[TOLD:[^ ]+]]: !llvm.ptr, %[[N:[^ ]+]]: i64) -> i32
// CHECK:         %[[ADDRESS:.*]] = llvm.ptrtoint %[[TOLD]]
// CHECK:         plumbline.message = "out0_size0 is null"
// CHECK:         %[[CALLED:.*]] = call @counted_body(
// CHECK:         %[[WORD:.*]] = arith.index_cast %[[CALLED]] : index to i64
// CHECK:         llvm.store %[[WORD]], %[[TOLD]]

// CHECK-LABEL: func.func @counted_output_shape(
// CHECK-SAME:    %{{[^ ]+}}: i32, %[[M:[^ ]+]]: i64, %[[SHAPE:[^ ]+]]: !llvm.ptr)
// CHECK:         %[[MOST:.*]] = arith.index_cast %[[M]] : i64 to index
// CHECK:         %[[WORD:.*]] = arith.index_cast %[[MOST]] : index to i64
// CHECK:         llvm.store %[[WORD]]

// CHECK-LABEL: func.func private @counted_body(
// CHECK-SAME:    %[[X:[^ ]+]]: memref<?xi64>, %[[OUT:[^ ]+]]: memref<?xi8>) -> index
// CHECK:         %[[COUNT:.*]] = arith.minsi
// CHECK:         %[[PLACED:.*]] = memref.view %[[OUT]][%{{.*}}][%[[COUNT]]] : memref<?xi8> to memref<?xf32>
// CHECK:         %[[SIZE:.*]] = memref.dim %[[PLACED]]
// CHECK:         return %[[SIZE]] : index
func.func @counted(%x: memref<?xi64>) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : memref<?xi64>
  %0 = memref.load %x[%c0] : memref<?xi64>
  %n = arith.index_cast %0 : i64 to index
  %least = arith.minsi %n, %m : index
  %1 = memref.alloc(%least) : memref<?xf32>
  return %1 : memref<?xf32>
}

// -----

// Numbers come by value, and are put where the program looks for a tensor of rank 0.

// CHECK-LABEL: func.func @numbers(
// CHECK-SAME:      %[[T:[^:]*]]: f64, %[[FLAG:[^:]*]]: i8, %{{[^:]*}}: !llvm.ptr) -> i32
// CHECK:         %[[T_PLACE:.*]] = llvm.alloca %{{.*}} x f64
// CHECK-NEXT:    llvm.store %[[T]], %[[T_PLACE]]
// CHECK:         %[[FLAG_PLACE:.*]] = llvm.alloca %{{.*}} x i8
// CHECK-NEXT:    llvm.store %[[FLAG]], %[[FLAG_PLACE]]
// CHECK-NOT:     temperature is null
// CHECK:         plumbline.message = "out0 is null"
// CHECK:         call @numbers_body(

// CHECK-LABEL: func.func @numbers_packed(
// CHECK:         llvm.load %{{.*}} : !llvm.ptr -> f64
// CHECK:         llvm.load %{{.*}} : !llvm.ptr -> i8
func.func @numbers(%t: memref<f64>, %flag: memref<i1>) -> memref<f64> attributes {plumbline.signature = {inputs = [{name = "temperature", scalar, type = "f64"}, {name = "flag", scalar, type = "i1"}], outputs = [{name = "out0", scalar, type = "f64"}]}} {
  %0 = memref.alloc() : memref<f64>
  %1 = memref.load %t[] : memref<f64>
  memref.store %1, %0[] : memref<f64>
  return %0 : memref<f64>
}
