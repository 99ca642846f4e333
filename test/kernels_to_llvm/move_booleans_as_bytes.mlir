// RUN: tcp-opt %s -move-booleans-as-bytes | FileCheck %s
// RUN: tcp-opt %s -kernels-to-llvm-pipeline | FileCheck %s --check-prefix=PIPELINE

// CHECK-LABEL: llvm.func @inverted(
// CHECK-SAME:      %[[FROM:.*]]: !llvm.ptr, %[[TO:.*]]: !llvm.ptr)
// CHECK:         %[[AT:.*]] = llvm.getelementptr %[[FROM]][3]
// CHECK-NEXT:    %[[BYTE:.*]] = llvm.load %[[AT]] : !llvm.ptr -> i8
// CHECK-NEXT:    %[[ZERO:.*]] = arith.constant 0 : i8
// CHECK-NEXT:    %[[IS_SET:.*]] = arith.cmpi ne, %[[BYTE]], %[[ZERO]]
// CHECK:         %[[NOT:.*]] = llvm.xor %[[IS_SET]], %{{.*}} : i1
// CHECK-NEXT:    %[[RESULT:.*]] = arith.extui %[[NOT]] : i1 to i8
// CHECK-NEXT:    llvm.store %[[RESULT]], %[[TO]] : i8, !llvm.ptr
llvm.func @inverted(%from: !llvm.ptr, %to: !llvm.ptr) {
  %true = llvm.mlir.constant(true) : i1
  %at = llvm.getelementptr %from[3] : (!llvm.ptr) -> !llvm.ptr, i1
  %x = llvm.load %at : !llvm.ptr -> i1
  %y = llvm.xor %x, %true : i1
  llvm.store %y, %to : i1, !llvm.ptr
  llvm.return
}

// CHECK-LABEL: llvm.func @vectors(
// CHECK-SAME:      %[[FROM:.*]]: !llvm.ptr, %[[TO:.*]]: !llvm.ptr, %[[MASK:.*]]: vector<8xi1>, %[[OTHER:.*]]: vector<8xi1>)
// CHECK:         %[[BYTES:.*]] = llvm.load %[[FROM]] : !llvm.ptr -> vector<8xi8>
// CHECK-NEXT:    %[[ZERO:.*]] = arith.constant dense<0> : vector<8xi8>
// CHECK-NEXT:    %[[IS_SET:.*]] = arith.cmpi ne, %[[BYTES]], %[[ZERO]]
// CHECK-NEXT:    %[[REST:.*]] = arith.extui %[[OTHER]] : vector<8xi1> to vector<8xi8>
// CHECK-NEXT:    %[[PART:.*]] = llvm.intr.masked.load %[[FROM]], %[[MASK]], %[[REST]]
// CHECK:         %[[ARE_SET:.*]] = arith.cmpi ne, %[[PART]]
// CHECK-NEXT:    %[[RESULT:.*]] = arith.extui %[[IS_SET]] : vector<8xi1> to vector<8xi8>
// CHECK-NEXT:    llvm.store %[[RESULT]], %[[TO]] {alignment = 1 : i64} : vector<8xi8>, !llvm.ptr
// CHECK-NEXT:    %[[RESULT:.*]] = arith.extui %[[ARE_SET]] : vector<8xi1> to vector<8xi8>
// CHECK-NEXT:    llvm.intr.masked.store %[[RESULT]], %[[TO]], %[[MASK]]
llvm.func @vectors(%from: !llvm.ptr, %to: !llvm.ptr, %mask: vector<8xi1>, %other: vector<8xi1>) {
  %x = llvm.load %from : !llvm.ptr -> vector<8xi1>
  %y = llvm.intr.masked.load %from, %mask, %other {alignment = 1 : i32} : (!llvm.ptr, vector<8xi1>, vector<8xi1>) -> vector<8xi1>
  llvm.store %x, %to {alignment = 1 : i64} : vector<8xi1>, !llvm.ptr
  llvm.intr.masked.store %y, %to, %mask {alignment = 1 : i32} : vector<8xi1>, vector<8xi1> into !llvm.ptr
  llvm.return
}

// PIPELINE-LABEL: llvm.func @buffers(
// PIPELINE:         llvm.load %{{.*}} : !llvm.ptr -> i8
// PIPELINE:         llvm.store %{{.*}}, %{{.*}} : i8, !llvm.ptr
func.func @buffers(%x: memref<4xi1>, %y: memref<4xi1>) {
  %at = arith.constant 2 : index
  %bit = memref.load %x[%at] : memref<4xi1>
  memref.store %bit, %y[%at] : memref<4xi1>
  return
}
