// RUN: tcp-opt %s -launch-loops | FileCheck %s

// The loops that are said to be parallel are done by a thread for each iteration; the others by it.
// CHECK-LABEL: func.func private @nest(
// CHECK:         %[[N:.*]] = memref.dim
// CHECK:         %[[COUNT:.*]] = arith.muli %[[N]], %c8
// CHECK:         gpu.launch
// CHECK:           scf.for %[[I:.*]] = %{{.*}} to %[[COUNT]] step
// CHECK:             %[[COLUMN:.*]] = arith.remui %[[I]], %c8
// CHECK:             %[[ROW:.*]] = arith.divui %[[I]], %c8
// CHECK:             scf.for %[[K:.*]] = %c0 to %c5 step %c1
// CHECK:               memref.load %{{.*}}[%[[ROW]], %[[COLUMN]], %[[K]]]
// CHECK-NOT:     plumbline.parallel
func.func private @nest(%x: memref<?x8x5xf32>, %y: memref<?x8xf32>) attributes {no_inline, plumbline.parallel = 2 : index} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c8 = arith.constant 8 : index
  %n = memref.dim %x, %c0 : memref<?x8x5xf32>
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      scf.for %k = %c0 to %c5 step %c1 {
        %a = memref.load %x[%i, %j, %k] : memref<?x8x5xf32>
        %b = memref.load %y[%i, %j] : memref<?x8xf32>
        %c = arith.addf %a, %b : f32
        memref.store %c, %y[%i, %j] : memref<?x8xf32>
      }
    }
  }
  return
}

// What depends on what was done before is done by one thread, unless it is a scan or an update.
// CHECK-LABEL: func.func private @recurrence(
// CHECK:         gpu.launch blocks({{.*}}) in (%{{.*}} = %[[ONE:.*]], %{{.*}} = %c1{{.*}}, %{{.*}} = %c1{{.*}}) threads({{.*}}) in (%{{.*}} = %c1{{.*}},
// CHECK-NEXT:      scf.for %{{.*}} = %c1 to %c8 step %c1
func.func private @recurrence(%x: memref<8xf32>) attributes {no_inline} {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c1 to %c8 step %c1 {
    %before = arith.subi %i, %c1 : index
    %a = memref.load %x[%before] : memref<8xf32>
    %b = memref.load %x[%i] : memref<8xf32>
    %c = arith.addf %a, %b : f32
    memref.store %c, %x[%i] : memref<8xf32>
  }
  return
}
