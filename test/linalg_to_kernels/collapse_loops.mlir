// RUN: tcp-opt %s -collapse-loops -canonicalize -split-input-file | FileCheck %s

// The planes' elements are contiguous, and planes are too, however many: one loop of four.
// CHECK-LABEL: func.func private @elements(
// CHECK-SAME:      %[[X:[^:]*]]: memref<?x4x7x7xf32>, %[[Y:[^:]*]]: memref<?x4x7x7xf32>, %[[N:[^:]*]]: index
// CHECK-DAG:     %[[XS:.*]] = memref.collapse_shape %[[X]] {{\[\[}}0, 1, 2, 3]] : memref<?x4x7x7xf32> into memref<?xf32>
// CHECK-DAG:     %[[YS:.*]] = memref.collapse_shape %[[Y]] {{\[\[}}0, 1, 2, 3]] : memref<?x4x7x7xf32> into memref<?xf32>
// CHECK:         %[[SIZE:.*]] = arith.muli %[[N]], %c196
// CHECK-NEXT:    scf.for %[[AT:.*]] = %c0 to %[[SIZE]] step %c1 {
// CHECK-NEXT:      memref.load %[[XS]][%[[AT]]]
// CHECK-NEXT:      arith.negf
// CHECK-NEXT:      memref.store %{{.*}}, %[[YS]][%[[AT]]]
// CHECK-NOT:     scf.for
func.func private @elements(%x: memref<?x4x7x7xf32>, %y: memref<?x4x7x7xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c7 = arith.constant 7 : index
  scf.for %b = %c0 to %n step %c1 {
    scf.for %c = %c0 to %c4 step %c1 {
      scf.for %i = %c0 to %c7 step %c1 {
        scf.for %j = %c0 to %c7 step %c1 {
          %a = memref.load %x[%b, %c, %i, %j] : memref<?x4x7x7xf32>
          %r = arith.negf %a : f32
          memref.store %r, %y[%b, %c, %i, %j] : memref<?x4x7x7xf32>
        }
      }
    }
  }
  return
}

// -----

// What is carried through both loops is carried through the one.
// CHECK-LABEL: func.func private @sum(
// CHECK:         %[[SUM:.*]] = scf.for %[[AT:.*]] = %c0 to %c49 step %c1 iter_args(%[[SO_FAR:.*]] = %arg1)
// CHECK-NEXT:      %[[A:.*]] = memref.load %{{.*}}[%[[AT]]] : memref<49xf32, strided<[1], offset: ?>>
// CHECK-NEXT:      %[[R:.*]] = arith.addf %[[SO_FAR]], %[[A]]
// CHECK-NEXT:      scf.yield %[[R]]
// CHECK:         return %[[SUM]]
func.func private @sum(%x: memref<7x7xf32, strided<[7, 1], offset: ?>>, %start: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %0 = scf.for %i = %c0 to %c7 step %c1 iter_args(%s = %start) -> (f32) {
    %1 = scf.for %j = %c0 to %c7 step %c1 iter_args(%t = %s) -> (f32) {
      %a = memref.load %x[%i, %j] : memref<7x7xf32, strided<[7, 1], offset: ?>>
      %r = arith.addf %t, %a : f32
      scf.yield %r : f32
    }
    scf.yield %1 : f32
  }
  return %0 : f32
}

// -----

// Elements that are apart in memory, that depend on one loop alone, or are a part of each row.
// CHECK-LABEL: func.func private @apart(
// CHECK-COUNT-6: scf.for
func.func private @apart(%x: memref<7x7xf32, strided<[8, 1]>>, %y: memref<7x7xf32>, %z: memref<7xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %c7 = arith.constant 7 : index
  scf.for %i = %c0 to %c7 step %c1 {
    scf.for %j = %c0 to %c7 step %c1 {
      %a = memref.load %x[%i, %j] : memref<7x7xf32, strided<[8, 1]>>
      memref.store %a, %y[%i, %j] : memref<7x7xf32>
    }
  }
  scf.for %i = %c0 to %c7 step %c1 {
    scf.for %j = %c0 to %c7 step %c1 {
      %a = memref.load %z[%i] : memref<7xf32>
      memref.store %a, %y[%i, %j] : memref<7x7xf32>
    }
  }
  scf.for %i = %c0 to %c7 step %c1 {
    scf.for %j = %c0 to %c6 step %c1 {
      %a = memref.load %y[%i, %j] : memref<7x7xf32>
      %b = arith.negf %a : f32
      memref.store %b, %y[%i, %j] : memref<7x7xf32>
    }
  }
  return
}

// -----

// More elements than one loop can count.
// CHECK-LABEL: func.func private @beyond_counting(
// CHECK-COUNT-2: scf.for
func.func private @beyond_counting(%x: memref<9223372036854775807x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %most = arith.constant 9223372036854775807 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %most step %c1 {
    scf.for %j = %c0 to %c2 step %c1 {
      memref.store %zero, %x[%i, %j] : memref<9223372036854775807x2xf32>
    }
  }
  return
}

// -----

// All elements of all planes of a buffer, as its own sizes tell.
// CHECK-LABEL: func.func private @dynamic_sum(
// CHECK-SAME:      %[[X:.*]]: memref<?x?x?xf32>, %[[START:.*]]: f32
// CHECK:         %[[XS:.*]] = memref.collapse_shape %[[X]] {{\[\[}}0, 1, 2]] : memref<?x?x?xf32> into memref<?xf32>
// CHECK:         %[[SIZE:.*]] = memref.dim %[[XS]], %c0
// CHECK:         scf.for %[[AT:.*]] = %c0 to %[[SIZE]] step %c1 iter_args
// CHECK-NEXT:      memref.load %[[XS]][%[[AT]]] : memref<?xf32>
// CHECK-NOT:     scf.for
// CHECK:         return
func.func private @dynamic_sum(%x: memref<?x?x?xf32>, %start: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = memref.dim %x, %c0 : memref<?x?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?x?xf32>
  %k = memref.dim %x, %c2 : memref<?x?x?xf32>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %start) -> (f32) {
    %1 = scf.for %j = %c0 to %m step %c1 iter_args(%t = %s) -> (f32) {
      %2 = scf.for %l = %c0 to %k step %c1 iter_args(%u = %t) -> (f32) {
        %a = memref.load %x[%i, %j, %l] : memref<?x?x?xf32>
        %r = arith.addf %u, %a : f32
        scf.yield %r : f32
      }
      scf.yield %2 : f32
    }
    scf.yield %1 : f32
  }
  return %0 : f32
}

// -----

// Rows that may be a part of the buffer's, that lie apart, or of which each is longer than the last.
// CHECK-LABEL: func.func private @dynamic_apart(
// CHECK-COUNT-6: scf.for
func.func private @dynamic_apart(%x: memref<?x?xf32>, %y: memref<?x?xf32, strided<[?, 1]>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %seven = arith.constant 7.0 : f32
  %m = memref.dim %x, %c0 : memref<?x?xf32>
  %k = memref.dim %y, %c1 : memref<?x?xf32, strided<[?, 1]>>
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      memref.store %seven, %x[%i, %j] : memref<?x?xf32>
    }
  }
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %k step %c1 {
      memref.store %seven, %y[%i, %j] : memref<?x?xf32, strided<[?, 1]>>
    }
  }
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %i step %c1 {
      memref.store %seven, %x[%i, %j] : memref<?x?xf32>
    }
  }
  return
}

// -----

// All elements of two buffers, whose sizes are noted to be the same ones, as those of a third one
// that the kernel makes are. The notes are taken off.
// CHECK-LABEL: func.func private @noted(
// CHECK-SAME:      %[[N:[^:]*]]: index, %[[M:[^:]*]]: index, %[[X:[^:]*]]: memref<?x4x?xf32>, %[[Y:[^:]*]]: memref<?x4x?xf32> {llvm.noalias})
// CHECK-DAG:     %[[XS:.*]] = memref.collapse_shape %[[X]] {{\[\[}}0, 1, 2]] : memref<?x4x?xf32> into memref<?xf32>
// CHECK-DAG:     %[[YS:.*]] = memref.collapse_shape %[[Y]] {{\[\[}}0, 1, 2]] : memref<?x4x?xf32> into memref<?xf32>
// CHECK-DAG:     %[[ZS:.*]] = memref.collapse_shape %{{.*}} {{\[\[}}0, 1, 2]] : memref<?x4x?xf32> into memref<?xf32>
// CHECK:         scf.for %[[AT:.*]] = %c0 to %{{.*}} step %c1 {
// CHECK-NEXT:      %[[A:.*]] = memref.load %[[XS]][%[[AT]]]
// CHECK-NEXT:      memref.store %[[A]], %[[YS]][%[[AT]]]
// CHECK-NEXT:      memref.store %[[A]], %[[ZS]][%[[AT]]]
// CHECK-NOT:     scf.for
// CHECK:         return
func.func private @noted(%n: index {plumbline.sizes = array<i64: 1>}, %m: index {plumbline.sizes = array<i64: 0>}, %x: memref<?x4x?xf32> {plumbline.sizes = array<i64: 1, -1, 0>}, %y: memref<?x4x?xf32> {llvm.noalias, plumbline.sizes = array<i64: 1, -1, 0>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %z = memref.alloc(%n, %m) : memref<?x4x?xf32>
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      scf.for %k = %c0 to %m step %c1 {
        %a = memref.load %x[%i, %j, %k] : memref<?x4x?xf32>
        memref.store %a, %y[%i, %j, %k] : memref<?x4x?xf32>
        memref.store %a, %z[%i, %j, %k] : memref<?x4x?xf32>
      }
    }
  }
  return
}

// -----

// Rows of one buffer that are noted to be as long as the loop runs, and of one that are not.
// CHECK-LABEL: func.func private @noted_of_one(
// CHECK-COUNT-2: scf.for
func.func private @noted_of_one(%n: index {plumbline.sizes = array<i64: 0>}, %x: memref<?x?xf32> {plumbline.sizes = array<i64: -1, 0>}, %y: memref<?x?xf32> {plumbline.sizes = array<i64: -1, 1>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %x, %c0 : memref<?x?xf32>
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %a = memref.load %x[%i, %j] : memref<?x?xf32>
      memref.store %a, %y[%i, %j] : memref<?x?xf32>
    }
  }
  return
}
