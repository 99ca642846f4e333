// RUN: tcp-opt %s -store-inout-arguments | FileCheck %s

// What has been written where it is to be is no result any more.

// CHECK-LABEL: func.func @in_place(
// CHECK-SAME:    %[[X:.*]]: memref<?xf32> {plumbline.inout}) attributes
// CHECK-SAME:    outputs = []
// CHECK-NOT:     memref.copy
// CHECK:         return{{$}}
func.func @in_place(%x: memref<?xf32> {plumbline.inout = 0 : i64}) -> memref<?xf32> {
  %0 = memref.cast %x : memref<?xf32> to memref<4xf32>
  %1 = memref.cast %0 : memref<4xf32> to memref<?xf32>
  return %1 : memref<?xf32>
}

// What lies elsewhere is copied there: at once from memory that nothing here writes.

// CHECK-LABEL: func.func @elsewhere(
// CHECK-SAME:    %[[X:.*]]: memref<4xf32> {plumbline.inout}, %[[Y:.*]]: memref<4xf32>) -> memref<4xf32>
// CHECK-NEXT:    memref.copy %[[Y]], %[[X]]
// CHECK-NEXT:    return %[[Y]]
func.func @elsewhere(%x: memref<4xf32> {plumbline.inout = 1 : i64}, %y: memref<4xf32>) -> (memref<4xf32>, memref<4xf32>) {
  return %y, %y : memref<4xf32>, memref<4xf32>
}

// A part of the old value, and what may be one, are first copied to memory of their own.

// CHECK-LABEL: func.func @part(
// CHECK-SAME:    %[[X:.*]]: memref<?xf32> {plumbline.inout}, %[[Y:.*]]: memref<?xf32>, %[[FLAG:.*]]: memref<i1>) -> memref<?xf32>
// CHECK-NEXT:    %[[FIRST:.*]] = memref.load
// CHECK-NEXT:    %[[EITHER:.*]] = arith.select %[[FIRST]], %[[X]], %[[Y]]
// CHECK:         %[[EITHER_COPY:.*]] = memref.alloc(%{{.*}}) : memref<?xf32>
// CHECK-NEXT:    memref.copy %[[EITHER]], %[[EITHER_COPY]]
// CHECK:         %[[COPY:.*]] = memref.alloc(%{{.*}}) : memref<?xf32>
// CHECK-NEXT:    memref.copy %[[X]], %[[COPY]]
// CHECK-NEXT:    memref.copy %[[EITHER_COPY]], %[[X]]
// CHECK-NEXT:    return %[[COPY]]
func.func @part(%x: memref<?xf32> {plumbline.inout = 1 : i64}, %y: memref<?xf32>, %flag: memref<i1>) -> (memref<?xf32>, memref<?xf32>) {
  %first = memref.load %flag[] : memref<i1>
  %0 = arith.select %first, %x, %y : memref<?xf32>
  return %x, %0 : memref<?xf32>, memref<?xf32>
}
