// RUN: tcp-opt %s -merge-sorts -canonicalize -cse -split-input-file | FileCheck %s

// Rows go into scratch by sorted pairs, are merged there in as many rounds as their size has bits, back
// and forth, and come back. Runs of one length are merged from both ends, without a branch or a select.
// Sorts that are alike share a kernel.
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
// CHECK:             %[[EARLY:.*]] = memref.load %[[X]][%[[AT:.*]], %[[COLUMN]]]
// CHECK:             %[[KEEPS:.*]] = arith.index_castui
// CHECK:             %[[PLACE:.*]] = arith.subi %{{.*}}, %[[KEEPS]]
// CHECK:             memref.store %[[EARLY]], %{{.*}}[%c0, %[[PLACE]]] : memref<2x?xf32>
// CHECK:           math.ctlz
// CHECK:           scf.for %[[ROUND:.*]] = %c0 to %{{.*}} step %c1 iter_args(%[[SOURCE:.*]] = %c0)
// CHECK:             %[[TARGET:.*]] = arith.subi %c1, %[[SOURCE]]
// CHECK:             %[[LENGTH:.*]] = arith.shli %c2, %[[ROUND]]
// CHECK:             scf.for %{{.*}} = %c0 to %[[LENGTH]] step %c1 iter_args(%[[LEFT:.*]] = %{{.*}}, %[[RIGHT:.*]] = %{{.*}}, %[[LAST_LEFT:.*]] = %{{.*}}, %[[LAST:.*]] = %{{.*}})
// CHECK-NOT:           select
// CHECK-NOT:           arith.minsi
// CHECK:               memref.load %{{.*}}[%[[SOURCE]], %[[LEFT]]]
// CHECK:               memref.load %{{.*}}[%[[SOURCE]], %[[RIGHT]]]
// CHECK:               arith.cmpf ole
// CHECK:               memref.store %{{.*}}, %{{.*}}[%[[TARGET]], %{{.*}}] : memref<2x?xf32>
// CHECK:               memref.store %{{.*}}, %{{.*}}[%[[TARGET]], %{{.*}}] : memref<2x?xi64>
// CHECK:               memref.load %{{.*}}[%[[SOURCE]], %[[LAST_LEFT]]]
// CHECK:               memref.load %{{.*}}[%[[SOURCE]], %[[LAST]]]
// CHECK:             scf.for %{{.*}} iter_args(%[[LEFT:.*]] = %{{.*}}, %[[RIGHT:.*]] = %{{.*}}) -> (index, index)
// CHECK:               arith.minsi
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
// CHECK:       func.func private @sort_kernel(%{{[^:]*}}: memref<8xi64> {llvm.noalias}, %{{[^:]*}}: memref<2x8xi64> {llvm.noalias, plumbline.scratch}, %[[MASK:[^:]*]]: i64)
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

// Where the first elements are read alone, those so far are held in order, and what comes before the
// last of them is gathered behind them. The copy that was sorted is left out: the kernel reads what was
// copied, and writes to memory for the first ones. Many elements are passed over at once.
// CHECK-LABEL: func.func @first(
// CHECK-SAME:      %[[GIVEN:[^:]*]]: memref<4x100xf32>)
// CHECK-NOT:     memref<4x100xf32>
// CHECK:         %[[HELD:.*]] = memref.alloc() : memref<4x17xf32>
// CHECK:         %[[LOOSE:.*]] = memref.cast %[[HELD]] : memref<4x17xf32> to memref<4x17xf32, strided<[?, ?], offset: ?>>
// CHECK:         call @sort_kernel(%[[LOOSE]], %{{.*}}, %[[GIVEN]])
// CHECK:         memref.copy %[[HELD]],
// CHECK:         memref.dealloc %[[HELD]]
// CHECK:       func.func private @sort_kernel(
// CHECK-SAME:      %[[HELD:[^:]*]]: memref<4x17xf32, strided<[?, ?], offset: ?>> {llvm.noalias}, %[[FIRST:[^:]*]]: memref<2x49xf32> {llvm.noalias, plumbline.scratch}, %[[GIVEN:[^:]*]]: memref<4x100xf32>)
// CHECK:         scf.for %[[ROW:.*]] = %c0 to %c4
// CHECK:           %[[LAST:.*]] = memref.load %[[FIRST]][%{{.*}}, %c16{{.*}}]
// CHECK:           scf.for %[[BLOCK:.*]] = %c0 to %c5 step %c1 iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %c0, %[[BOUND:.*]] = %[[LAST]])
// CHECK:             %[[ARE_LATER:.*]] = scf.for %{{.*}} = %c0 to %c16 step %c1 iter_args(%[[BEFORE:.*]] = %true)
// CHECK:               %[[NEW:.*]] = memref.load %[[GIVEN]][%[[ROW]], %{{.*}}]
// CHECK:               %[[COMES_LATER:.*]] = arith.cmpf ole, %[[BOUND]], %[[NEW]]
// CHECK:               arith.andi %[[BEFORE]], %[[COMES_LATER]]
// CHECK:             scf.if %[[ARE_LATER]]
// CHECK:             } else {
// CHECK:               scf.for %[[AT:.*]] = %{{.*}} iter_args(%{{.*}} = %{{.*}}, %[[GATHERED:.*]] = %{{.*}}, %[[BOUND:.*]] = %{{.*}})
// CHECK:                 %[[NEW:.*]] = memref.load %[[GIVEN]][%[[ROW]], %[[AT]]]
// CHECK:                 %[[COMES_LATER:.*]] = arith.cmpf ole, %[[BOUND]], %[[NEW]]
// CHECK:                 scf.if %[[COMES_LATER]]
// CHECK:                 } else {
// CHECK:                   %[[PLACE:.*]] = arith.addi %[[GATHERED]], %c17
// CHECK:                   memref.store %[[NEW]], %[[FIRST]][%c0, %[[PLACE]]]
// CHECK:                   arith.cmpi eq, %{{.*}}, %c32
// CHECK:           scf.for %{{.*}} = %c97 to %c100
// CHECK:           scf.for %{{.*}} = %c0 to %c17
// CHECK:             memref.store %{{.*}}, %[[HELD]]
// CHECK:         return
func.func @first(%x: memref<4x100xf32>) -> memref<4x17xf32> {
  %all = memref.alloc() : memref<4x100xf32>
  memref.copy %x, %all : memref<4x100xf32> to memref<4x100xf32>
  tm_tensor.sort dimension(1) outs(%all : memref<4x100xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.cmpf ole, %a, %b : f32
    tm_tensor.yield %0 : i1
  }
  %part = memref.subview %all[0, 0] [4, 17] [1, 1] : memref<4x100xf32> to memref<4x17xf32, strided<[100, 1]>>
  %first = memref.alloc() : memref<4x17xf32>
  memref.copy %part, %first : memref<4x17xf32, strided<[100, 1]>> to memref<4x17xf32>
  memref.dealloc %all : memref<4x100xf32>
  return %first : memref<4x17xf32>
}

// -----

// Few are held in registers. What was computed to be sorted is only read, and needs no copy.
// CHECK-LABEL: func.func @few(
// CHECK-SAME:      %[[X:[^:]*]]: memref<8x2xf32>,
// CHECK:         %[[ALL:.*]] = memref.alloc() : memref<8x2xf32>
// CHECK:         linalg.exp ins(%[[X]] : memref<8x2xf32>) outs(%[[ALL]] : memref<8x2xf32>)
// CHECK:         call @sort_kernel(%{{.*}}, %{{.*}}, %[[ALL]])
// CHECK:       func.func private @sort_kernel(
// CHECK-SAME:      %[[HELD:[^:]*]]: memref<2x2xf32, strided<[?, ?], offset: ?>> {llvm.noalias}, %[[PLACES:[^:]*]]: memref<2x2xi64, strided<[?, ?], offset: ?>> {llvm.noalias}, %[[ALL:[^:]*]]: memref<8x2xf32>)
// CHECK:         scf.for %[[COLUMN:.*]] = %c0 to %c2
// CHECK:           %[[X0:.*]] = memref.load %[[ALL]][%c0, %[[COLUMN]]]
// CHECK:           %[[X1:.*]] = memref.load %[[ALL]][%c1, %[[COLUMN]]]
// CHECK:           %[[IN_ORDER:.*]] = arith.cmpf ole, %[[X0]], %[[X1]]
// CHECK:           %[[SECOND:.*]] = arith.select %[[IN_ORDER]], %[[X1]], %[[X0]]
// CHECK:           %[[FIRST:.*]] = arith.select %[[IN_ORDER]], %[[X0]], %[[X1]]
// CHECK:           %[[FIRSTS:.*]]:4 = scf.for %[[AT:.*]] = %c2 to %c8 step %c1 iter_args(%{{.*}} = %[[FIRST]], %{{.*}} = %{{.*}}, %{{.*}} = %[[SECOND]], %{{.*}} = %{{.*}})
// CHECK:           memref.store %[[FIRSTS]]#0, %[[HELD]][%c0, %[[COLUMN]]]
// CHECK:           memref.store %[[FIRSTS]]#1, %[[PLACES]][%c0, %[[COLUMN]]]
// CHECK:           memref.store %[[FIRSTS]]#2, %[[HELD]][%c1, %[[COLUMN]]]
// CHECK:           memref.store %[[FIRSTS]]#3, %[[PLACES]][%c1, %[[COLUMN]]]
// CHECK-NOT:   memref.store
func.func @few(%x: memref<8x2xf32>, %values: memref<2x2xf32>, %places: memref<2x2xi64>) {
  %all = memref.alloc() : memref<8x2xf32>
  linalg.exp ins(%x : memref<8x2xf32>) outs(%all : memref<8x2xf32>)
  %all_places = memref.alloc() : memref<8x2xi64>
  tm_tensor.sort {plumbline.counted = array<i64: 1>} dimension(0) outs(%all, %all_places : memref<8x2xf32>, memref<8x2xi64>) {
  ^bb0(%a: f32, %b: f32, %of_a: i64, %of_b: i64):
    %0 = arith.cmpf ole, %a, %b : f32
    tm_tensor.yield %0 : i1
  }
  %first = memref.subview %all[0, 0] [2, 2] [1, 1] : memref<8x2xf32> to memref<2x2xf32, strided<[2, 1]>>
  %first_places = memref.subview %all_places[0, 0] [2, 2] [1, 1] : memref<8x2xi64> to memref<2x2xi64, strided<[2, 1]>>
  memref.copy %first, %values : memref<2x2xf32, strided<[2, 1]>> to memref<2x2xf32>
  memref.copy %first_places, %places : memref<2x2xi64, strided<[2, 1]>> to memref<2x2xi64>
  memref.dealloc %all : memref<8x2xf32>
  memref.dealloc %all_places : memref<8x2xi64>
  return
}

// -----

// What is read may begin later: those before it are among the first.
// CHECK-LABEL: func.func @every_other(
// CHECK:       func.func private @sort_kernel(
// CHECK-SAME:      memref<2x52xf32>
func.func @every_other(%x: memref<4x100xf32>) -> memref<4x10xf32> {
  %all = memref.alloc() : memref<4x100xf32>
  memref.copy %x, %all : memref<4x100xf32> to memref<4x100xf32>
  tm_tensor.sort dimension(1) outs(%all : memref<4x100xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.cmpf ole, %a, %b : f32
    tm_tensor.yield %0 : i1
  }
  %part = memref.subview %all[0, 1] [4, 10] [1, 2] : memref<4x100xf32> to memref<4x10xf32, strided<[100, 2], offset: 1>>
  %first = memref.alloc() : memref<4x10xf32>
  memref.copy %part, %first : memref<4x10xf32, strided<[100, 2], offset: 1>> to memref<4x10xf32>
  memref.dealloc %all : memref<4x100xf32>
  return %first : memref<4x10xf32>
}

// -----

// Not where it is not known, or all.
// CHECK-LABEL: func.func @anywhere(
// CHECK:       func.func private @sort_kernel(
// CHECK-SAME:      memref<2x100xf32>
func.func @anywhere(%x: memref<4x100xf32>, %at: index) -> memref<4x3xf32> {
  %all = memref.alloc() : memref<4x100xf32>
  memref.copy %x, %all : memref<4x100xf32> to memref<4x100xf32>
  tm_tensor.sort dimension(1) outs(%all : memref<4x100xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.cmpf ole, %a, %b : f32
    tm_tensor.yield %0 : i1
  }
  %part = memref.subview %all[0, %at] [4, 3] [1, 1] : memref<4x100xf32> to memref<4x3xf32, strided<[100, 1], offset: ?>>
  %first = memref.alloc() : memref<4x3xf32>
  memref.copy %part, %first : memref<4x3xf32, strided<[100, 1], offset: ?>> to memref<4x3xf32>
  memref.dealloc %all : memref<4x100xf32>
  return %first : memref<4x3xf32>
}

// -----

// What is copied and given back before the sort is copied all the same.
// CHECK-LABEL: func.func @given_back(
// CHECK:         memref.copy
// CHECK-NEXT:    memref.dealloc
// CHECK:         call @sort_kernel(%[[ALL:.*]], %{{[^,]*}}) :
func.func @given_back(%x: memref<8xf32>, %all: memref<8xf32>) {
  memref.copy %x, %all : memref<8xf32> to memref<8xf32>
  memref.dealloc %x : memref<8xf32>
  tm_tensor.sort dimension(0) outs(%all : memref<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.cmpf ole, %a, %b : f32
    tm_tensor.yield %0 : i1
  }
  return
}

// -----

// Of two copies to one buffer the last one counts, and one of what is sorted too is done.
// CHECK-LABEL: func.func @last(
// CHECK-SAME:      %[[FIRST:[^:]*]]: memref<8xf32>, %[[LAST:[^:]*]]: memref<8xf32>, %[[ALL:[^:]*]]: memref<8xf32>, %[[ALSO:[^:]*]]: memref<8xf32>)
// CHECK:         memref.copy %[[FIRST]], %[[ALL]]
// CHECK-NOT:     memref.copy
// CHECK:         call @sort_kernel(%[[ALL]], %{{[^,]*}}, %[[LAST]])
// CHECK:         memref.copy %[[ALL]], %[[ALSO]]
// CHECK:         call @sort_kernel_0(%[[ALL]], %[[ALSO]], %{{[^,]*}}, %{{[^,]*}}) :
func.func @last(%first: memref<8xf32>, %last: memref<8xf32>, %all: memref<8xf32>, %also: memref<8xf32>) {
  memref.copy %first, %all : memref<8xf32> to memref<8xf32>
  memref.copy %last, %all : memref<8xf32> to memref<8xf32>
  tm_tensor.sort dimension(0) outs(%all : memref<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.cmpf ole, %a, %b : f32
    tm_tensor.yield %0 : i1
  }
  memref.copy %all, %also : memref<8xf32> to memref<8xf32>
  tm_tensor.sort dimension(0) outs(%all, %also : memref<8xf32>, memref<8xf32>) {
  ^bb0(%a: f32, %b: f32, %of_a: f32, %of_b: f32):
    %0 = arith.cmpf ole, %a, %b : f32
    tm_tensor.yield %0 : i1
  }
  return
}

// -----

// Places are counted, not read.
// CHECK-LABEL: func.func @counted(
// CHECK:       func.func private @sort_kernel(
// CHECK-SAME:      %[[X:[^:]*]]: memref<8xf32> {llvm.noalias}, %[[PLACES:[^:]*]]: memref<8xi64>
// CHECK:         scf.for %[[AT:.*]] = %c0 to %c4
// CHECK-NOT:       memref.load %[[PLACES]]
// CHECK:           arith.index_cast %{{.*}} : index to i64
// CHECK:           memref.store %{{.*}}, %{{.*}} : memref<2x8xi64>
func.func @counted(%x: memref<8xf32>, %places: memref<8xi64>) {
  tm_tensor.sort {plumbline.counted = array<i64: 1>} dimension(0) outs(%x, %places : memref<8xf32>, memref<8xi64>) {
  ^bb0(%a: f32, %b: f32, %of_a: i64, %of_b: i64):
    %0 = arith.cmpf ole, %a, %b : f32
    tm_tensor.yield %0 : i1
  }
  return
}

// -----

// Floats of 16 bits are compared as the integers that have their order.
// CHECK-LABEL: func.func @halves(
// CHECK:       func.func private @sort_kernel(
// CHECK-NOT:     arith.cmpf
// CHECK:         %[[KEY:.*]] = arith.select %{{.*}}, %c32767_i16, %{{.*}} : i16
// CHECK-NOT:     arith.cmpf
// CHECK:         %[[OTHER:.*]] = arith.select %{{.*}}, %c32767_i16, %{{.*}} : i16
// CHECK-NEXT:    arith.cmpi sle, %[[KEY]], %[[OTHER]] : i16
// CHECK-NOT:     arith.cmpf
func.func @halves(%x: memref<8xf16>) {
  tm_tensor.sort dimension(0) outs(%x : memref<8xf16>) {
  ^bb0(%a: f16, %b: f16):
    %0 = arith.cmpf ole, %a, %b : f16
    %1 = arith.cmpf uno, %b, %b : f16
    %2 = arith.ori %0, %1 : i1
    tm_tensor.yield %2 : i1
  }
  return
}
