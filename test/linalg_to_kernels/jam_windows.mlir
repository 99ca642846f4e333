// RUN: tcp-opt %s -jam-windows -canonicalize -cse -split-input-file | FileCheck %s

// Four results at once have six elements of the image and three weights, in the place of 24. Three
// at once leave no rest of ten.
// CHECK-LABEL: func.func private @windows(
// CHECK-SAME:      %[[X:[^:]*]]: memref<12x64xf32>, %[[W:[^:]*]]: memref<3x64xf32>, %[[Y:[^:]*]]: memref<10x64xf32>
// CHECK:           scf.for %[[J:.*]] = %c0 to %c64 step %c1 {
// CHECK-COUNT-9:     memref.load
// CHECK-NOT:         memref.load
// CHECK:             memref.store
// CHECK-COUNT-3:     memref.store
// CHECK-NOT:         memref.store
// CHECK:         scf.for %[[I:.*]] = %c4 to %c10 step %c3 {
// CHECK:           scf.for %[[J:.*]] = %c0 to %c64 step %c1 {
// CHECK-COUNT-8:     memref.load
// CHECK-NOT:         memref.load
// CHECK:             memref.store %{{.*}}, %[[Y]][%[[I]], %[[J]]]
// CHECK-COUNT-2:     memref.store
// CHECK-NOT:         memref.store
// CHECK-NOT:     scf.for
func.func private @windows(%x: memref<12x64xf32>, %w: memref<3x64xf32>, %y: memref<10x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c10 = arith.constant 10 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c10 step %c1 {
    %second = arith.addi %i, %c1 : index
    %third = arith.addi %i, %c2 : index
    scf.for %j = %c0 to %c64 step %c1 {
      %a = memref.load %x[%i, %j] : memref<12x64xf32>
      %b = memref.load %x[%second, %j] : memref<12x64xf32>
      %c = memref.load %x[%third, %j] : memref<12x64xf32>
      %d = memref.load %w[%c0, %j] : memref<3x64xf32>
      %e = memref.load %w[%c1, %j] : memref<3x64xf32>
      %f = memref.load %w[%c2, %j] : memref<3x64xf32>
      %0 = arith.mulf %a, %d : f32
      %1 = arith.mulf %b, %e : f32
      %2 = arith.mulf %c, %f : f32
      %3 = arith.addf %0, %1 : f32
      %4 = arith.addf %3, %2 : f32
      memref.store %4, %y[%i, %j] : memref<10x64xf32>
    }
  }
  return
}

// -----

// Of a number that is not known all but the rest. Of one that three divide, three at once.
// CHECK-LABEL: func.func private @counts(
// CHECK:         %[[COUNT:.*]] = arith.divsi %{{.*}}, %c4
// CHECK:         %[[LAST:.*]] = arith.muli %[[COUNT]], %c4
// CHECK:         scf.for %{{.*}} = %c0 to %[[LAST]] step %c4 {
// CHECK:         scf.for %{{.*}} = %[[LAST]] to %{{.*}} step %c1 {
// CHECK:         scf.for %{{.*}} = %c0 to %c9 step %c3 {
// CHECK-NOT:     scf.for %{{.*}} = %c9
func.func private @counts(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c9 = arith.constant 9 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %c64 step %c1 {
      %second = arith.addi %i, %c1 : index
      %third = arith.addi %i, %c2 : index
      %fourth = arith.addi %i, %c3 : index
      %a = memref.load %x[%i, %j] : memref<?x64xf32>
      %b = memref.load %x[%second, %j] : memref<?x64xf32>
      %c = memref.load %x[%third, %j] : memref<?x64xf32>
      %d = memref.load %x[%fourth, %j] : memref<?x64xf32>
      %0 = arith.maximumf %a, %b : f32
      %1 = arith.maximumf %0, %c : f32
      %2 = arith.maximumf %1, %d : f32
      memref.store %2, %y[%i, %j] : memref<?x64xf32>
    }
  }
  scf.for %i = %c0 to %c9 step %c1 {
    scf.for %j = %c0 to %c64 step %c1 {
      %second = arith.addi %i, %c1 : index
      %third = arith.addi %i, %c2 : index
      %fourth = arith.addi %i, %c3 : index
      %a = memref.load %x[%i, %j] : memref<?x64xf32>
      %b = memref.load %x[%second, %j] : memref<?x64xf32>
      %c = memref.load %x[%third, %j] : memref<?x64xf32>
      %d = memref.load %x[%fourth, %j] : memref<?x64xf32>
      %0 = arith.maximumf %a, %b : f32
      %1 = arith.maximumf %0, %c : f32
      %2 = arith.maximumf %1, %d : f32
      memref.store %2, %y[%i, %j] : memref<?x64xf32>
    }
  }
  return
}

// -----

// What is written is read again; windows do not overlap; elements are far from one another.
// CHECK-LABEL: func.func private @others(
// CHECK-COUNT-6: scf.for
// CHECK-NOT:     scf.for
func.func private @others(%x: memref<100x64xf32>, %y: memref<20x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c64 step %c1 {
      %second = arith.addi %i, %c1 : index
      %third = arith.addi %i, %c2 : index
      %fourth = arith.addi %i, %c3 : index
      %a = memref.load %x[%i, %j] : memref<100x64xf32>
      %b = memref.load %x[%second, %j] : memref<100x64xf32>
      %c = memref.load %x[%third, %j] : memref<100x64xf32>
      %d = memref.load %x[%fourth, %j] : memref<100x64xf32>
      %0 = arith.addf %a, %b : f32
      %1 = arith.addf %0, %c : f32
      %2 = arith.addf %1, %d : f32
      memref.store %2, %x[%fourth, %j] : memref<100x64xf32>
    }
  }
  scf.for %i = %c0 to %c8 step %c1 {
    %first = arith.muli %i, %c4 : index
    %second = arith.addi %first, %c1 : index
    %third = arith.addi %first, %c2 : index
    %fourth = arith.addi %first, %c3 : index
    scf.for %j = %c0 to %c64 step %c1 {
      %a = memref.load %x[%first, %j] : memref<100x64xf32>
      %b = memref.load %x[%second, %j] : memref<100x64xf32>
      %c = memref.load %x[%third, %j] : memref<100x64xf32>
      %d = memref.load %x[%fourth, %j] : memref<100x64xf32>
      %0 = arith.addf %a, %b : f32
      %1 = arith.addf %0, %c : f32
      %2 = arith.addf %1, %d : f32
      memref.store %2, %y[%i, %j] : memref<20x64xf32>
    }
  }
  scf.for %i = %c0 to %c8 step %c1 {
    %second = arith.addi %i, %c1 : index
    %third = arith.addi %i, %c2 : index
    %fourth = arith.addi %i, %c3 : index
    scf.for %j = %c0 to %c8 step %c1 {
      %a = memref.load %x[%j, %i] : memref<100x64xf32>
      %b = memref.load %x[%j, %second] : memref<100x64xf32>
      %c = memref.load %x[%j, %third] : memref<100x64xf32>
      %d = memref.load %x[%j, %fourth] : memref<100x64xf32>
      %0 = arith.addf %a, %b : f32
      %1 = arith.addf %0, %c : f32
      %2 = arith.addf %1, %d : f32
      memref.store %2, %y[%i, %j] : memref<20x64xf32>
    }
  }
  // Nothing at all is done here.
  scf.for %i = %c0 to %c8 step %c1 {
  }
  return
}
