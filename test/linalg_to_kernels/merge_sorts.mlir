// RUN: tcp-opt %s -merge-sorts -canonicalize -cse -split-input-file | FileCheck %s

// Rows go into scratch, are merged there in as many rounds as their size has bits, back and forth,
// and come back. Sorts that are alike share a kernel.
// CHECK-LABEL: func.func @columns(
// CHECK-SAME:      %[[X:.*]]: memref<?x3xf32>, %[[PLACES:.*]]: memref<?x3xi64>)
// CHECK:         %[[SIZE:.*]] = memref.dim %[[X]], %c0
// CHECK:         %[[OF_X:.*]] = memref.alloc(%[[SIZE]]) : memref<2x?xf32>
// CHECK:         %[[OF_PLACES:.*]] = memref.alloc(%{{.*}}) : memref<2x?xi64>
// CHECK:         call @sort_kernel(%[[X]], %[[PLACES]], %[[OF_X]], %[[OF_PLACES]])
// CHECK:         memref.dealloc %[[OF_X]]
// CHECK:         memref.dealloc %[[OF_PLACES]]
// CHECK:         call @sort_kernel(
// CHECK-NOT:     tm_tensor.sort
// CHECK:       func.func private @sort_kernel(
// CHECK-SAME:      %[[X:[^:]*]]: memref<?x3xf32> {llvm.noalias}
// CHECK-SAME:      attributes {no_inline}
// CHECK:         scf.for %[[COLUMN:.*]] = %c0 to %c3
// CHECK:           scf.for
// CHECK:             memref.load %[[X]][%{{.*}}, %[[COLUMN]]]
// CHECK:           math.ctlz
// CHECK:           scf.for %[[ROUND:.*]] = %c0 to %{{.*}} step %c1 iter_args(%[[SOURCE:.*]] = %c0)
// CHECK:             arith.shli %c1, %[[ROUND]]
// CHECK:             %[[TARGET:.*]] = arith.subi %c1, %[[SOURCE]]
// CHECK:             scf.for %{{.*}} iter_args(%[[LEFT:.*]] = %{{.*}}, %[[RIGHT:.*]] = %{{.*}})
// CHECK:               arith.cmpf ole
// CHECK:               memref.store %{{.*}}, %{{.*}}[%[[TARGET]], %{{.*}}] : memref<2x?xf32>
// CHECK:               memref.store %{{.*}}, %{{.*}}[%[[TARGET]], %{{.*}}] : memref<2x?xi64>
// CHECK:           memref.store %{{.*}}, %[[X]][%{{.*}}, %[[COLUMN]]]
// CHECK-NOT:   func.func
func.func @columns(%x: memref<?x3xf32>, %places: memref<?x3xi64>) {
  tm_tensor.sort dimension(0) outs(%x, %places : memref<?x3xf32>, memref<?x3xi64>) {
  ^bb0(%a: f32, %b: f32, %of_a: i64, %of_b: i64):
    %0 = arith.cmpf ole, %a, %b : f32
    tm_tensor.yield %0 : i1
  }
  tm_tensor.sort dimension(0) outs(%x, %places : memref<?x3xf32>, memref<?x3xi64>) {
  ^bb0(%a: f32, %b: f32, %of_a: i64, %of_b: i64):
    %0 = arith.cmpf ole, %a, %b : f32
    tm_tensor.yield %0 : i1
  }
  return
}

// -----

// What the comparison takes from outside is handed over.
// CHECK-LABEL: func.func @by_what_is_given(
// CHECK-SAME:      %[[X:.*]]: memref<8xi64>, %[[MASK:.*]]: i64)
// CHECK:         %[[SCRATCH:.*]] = memref.alloc() : memref<2x8xi64>
// CHECK:         call @sort_kernel(%[[X]], %[[SCRATCH]], %[[MASK]])
// CHECK:       func.func private @sort_kernel(%{{[^:]*}}: memref<8xi64> {llvm.noalias}, %{{[^:]*}}: memref<2x8xi64> {llvm.noalias}, %[[MASK:[^:]*]]: i64)
// CHECK:         arith.xori %{{.*}}, %[[MASK]]
func.func @by_what_is_given(%x: memref<8xi64>, %mask: i64) {
  tm_tensor.sort dimension(0) outs(%x : memref<8xi64>) {
  ^bb0(%a: i64, %b: i64):
    %0 = arith.xori %a, %mask : i64
    %1 = arith.xori %b, %mask : i64
    %2 = arith.cmpi ule, %0, %1 : i64
    tm_tensor.yield %2 : i1
  }
  return
}

// -----

// Where a few of the first elements are read alone, these are held in order: an element that is
// among the first, or comes before the last of them, goes in between.
// CHECK-LABEL: func.func @first(
// CHECK:       func.func private @sort_kernel(
// CHECK-SAME:      %[[X:[^:]*]]: memref<4x100xf32> {llvm.noalias}, %[[FIRST:[^:]*]]: memref<2x100xf32>
// CHECK:         scf.for %[[ROW:.*]] = %c0 to %c4
// CHECK:           scf.for %[[AT:.*]] = %c0 to %c100
// CHECK:             %[[NEW:.*]] = memref.load %[[X]][%[[ROW]], %[[AT]]]
// CHECK:             %[[LAST:.*]] = memref.load %[[FIRST]][%c0, %c2]
// CHECK:             arith.cmpf ole, %[[LAST]], %[[NEW]]
// CHECK:             scf.if
// CHECK:               scf.for
// CHECK:                 memref.store %{{.*}}, %[[FIRST]]
// CHECK:           scf.for %{{.*}} = %c0 to %c3
// CHECK:             memref.store %{{.*}}, %[[X]]
// CHECK-NOT:     arith.shli
// CHECK:         return
func.func @first(%x: memref<4x100xf32>) -> memref<4x3xf32> {
  %all = memref.alloc() : memref<4x100xf32>
  memref.copy %x, %all : memref<4x100xf32> to memref<4x100xf32>
  tm_tensor.sort dimension(1) outs(%all : memref<4x100xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.cmpf ole, %a, %b : f32
    tm_tensor.yield %0 : i1
  }
  %part = memref.subview %all[0, 0] [4, 3] [1, 1] : memref<4x100xf32> to memref<4x3xf32, strided<[100, 1]>>
  %first = memref.alloc() : memref<4x3xf32>
  memref.copy %part, %first : memref<4x3xf32, strided<[100, 1]>> to memref<4x3xf32>
  memref.dealloc %all : memref<4x100xf32>
  return %first : memref<4x3xf32>
}

// -----

// Not where others are read too.
// CHECK-LABEL: func.func @second(
// CHECK:       func.func private @sort_kernel(
// CHECK:         arith.shli
func.func @second(%x: memref<4x100xf32>) -> memref<4x3xf32> {
  %all = memref.alloc() : memref<4x100xf32>
  memref.copy %x, %all : memref<4x100xf32> to memref<4x100xf32>
  tm_tensor.sort dimension(1) outs(%all : memref<4x100xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.cmpf ole, %a, %b : f32
    tm_tensor.yield %0 : i1
  }
  %part = memref.subview %all[0, 1] [4, 3] [1, 1] : memref<4x100xf32> to memref<4x3xf32, strided<[100, 1], offset: 1>>
  %first = memref.alloc() : memref<4x3xf32>
  memref.copy %part, %first : memref<4x3xf32, strided<[100, 1], offset: 1>> to memref<4x3xf32>
  memref.dealloc %all : memref<4x100xf32>
  return %first : memref<4x3xf32>
}
