// RUN: tcp-opt %s -unroll-quotients -canonicalize -cse -split-input-file | FileCheck %s

// Of each turn of 3 every element is from a row of its own. The rest is left to the loop.
// CHECK-LABEL: func.func private @turns(
// CHECK-SAME:      %[[X:[^:]*]]: memref<3x4xf32>, %[[Y:[^:]*]]: memref<8xf32>
// CHECK:         scf.for %[[I:.*]] = %c0 to %c2 step %c1 {
// CHECK-NEXT:      %[[FIRST:.*]] = arith.muli %[[I]], %c3
// CHECK-NEXT:      memref.load %[[X]][%c1, %[[I]]]
// CHECK-NEXT:      memref.store %{{.*}}, %[[Y]][%[[FIRST]]]
// CHECK-NEXT:      %[[SECOND:.*]] = arith.addi %[[FIRST]], %c1
// CHECK-NEXT:      memref.load %[[X]][%c2, %[[I]]]
// CHECK-NEXT:      memref.store %{{.*}}, %[[Y]][%[[SECOND]]]
// CHECK-NEXT:      %[[THIRD:.*]] = arith.addi %[[FIRST]], %c2
// CHECK-NEXT:      %[[NEXT:.*]] = arith.addi %[[I]], %c1
// CHECK-NEXT:      memref.load %[[X]][%c0, %[[NEXT]]]
// CHECK-NEXT:      memref.store %{{.*}}, %[[Y]][%[[THIRD]]]
// CHECK-NEXT:    }
// CHECK-NEXT:    scf.for %{{.*}} = %c6 to %c8 step %c1 {
// CHECK:           arith.remui
func.func private @turns(%x: memref<3x4xf32>, %y: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %p = arith.addi %i, %c1 : index
    %q = arith.divui %p, %c3 : index
    %r = arith.remui %p, %c3 : index
    %a = memref.load %x[%r, %q] : memref<3x4xf32>
    memref.store %a, %y[%i] : memref<8xf32>
  }
  return
}

// -----

// Of many elements a turn, or of what is not the loop's own count.
// CHECK-LABEL: func.func private @others(
// CHECK-COUNT-2: scf.for
// CHECK-NOT:     scf.for
func.func private @others(%x: memref<100x100xf32>, %y: memref<100xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c50 = arith.constant 50 : index
  scf.for %i = %c0 to %n step %c1 {
    %q = arith.divui %i, %c50 : index
    %a = memref.load %x[%q, %i] : memref<100x100xf32>
    memref.store %a, %y[%i] : memref<100xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %q = arith.divui %n, %c2 : index
    %a = memref.load %x[%q, %i] : memref<100x100xf32>
    memref.store %a, %y[%i] : memref<100xf32>
  }
  return
}
