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

// PIPELINE-LABEL: llvm.func @buffers(
// PIPELINE:         llvm.load %{{.*}} : !llvm.ptr -> i8
// PIPELINE:         llvm.store %{{.*}}, %{{.*}} : i8, !llvm.ptr
func.func @buffers(%x: memref<4xi1>, %y: memref<4xi1>) {
  %at = arith.constant 2 : index
  %bit = memref.load %x[%at] : memref<4xi1>
  memref.store %bit, %y[%at] : memref<4xi1>
  return
}
