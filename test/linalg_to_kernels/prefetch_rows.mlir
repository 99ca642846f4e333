// RUN: tcp-opt %s -split-input-file -prefetch-rows | FileCheck %s

// While a block of exponentials is computed, its part of the next row is asked for, which the first
// pass will read, and of this row's result, which the last pass will write; after the last row there
// is none to ask for.
// CHECK-LABEL: func.func private @exponentials(
// CHECK-SAME:      %[[X:[^:]*]]: memref<?x2048xf32>, %[[Y:[^:]*]]: memref<?x2048xf32>, %[[N:[^:]*]]: index
// CHECK:         scf.for %[[ROW:.*]] = %c0 to %[[N]]
// CHECK-NOT:       memref.prefetch
// CHECK:           scf.for %[[FIRST:.*]] = %c0 to %c2048 step %c128
// CHECK:             %[[LAST:.*]] = arith.subi %[[N]], %c1
// CHECK:             %[[BEYOND:.*]] = arith.addi %[[ROW]], %c1
// CHECK:             %[[NEXT:.*]] = arith.minsi %[[BEYOND]], %[[LAST]]
// CHECK:             memref.prefetch %[[X]][%[[NEXT]], %{{.*}}], read, locality<3>, data
// CHECK:             %[[MORE:.*]] = arith.addi %[[FIRST]], %c16
// CHECK-NEXT:        memref.prefetch %[[X]][%[[NEXT]], %[[MORE]]], read
// CHECK-COUNT-6:     memref.prefetch %[[X]][%[[NEXT]]
// CHECK-COUNT-8:     memref.prefetch %[[Y]][%[[ROW]], %{{.*}}], write
// CHECK-NOT:         memref.prefetch
// CHECK:             scf.for
// CHECK-NOT:       memref.prefetch
// CHECK:         return
func.func private @exponentials(%x: memref<?x2048xf32>, %y: memref<?x2048xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %c2048 = arith.constant 2048 : index
  %z = arith.constant 0.0 : f32
  %row = memref.alloca() : memref<2048xf32>
  scf.for %i = %c0 to %n step %c1 {
    %m = scf.for %j = %c0 to %c2048 step %c1 iter_args(%s = %z) -> (f32) {
      %a = memref.load %x[%i, %j] : memref<?x2048xf32>
      %r = arith.maximumf %s, %a : f32
      scf.yield %r : f32
    }
    %t = scf.for %b = %c0 to %c2048 step %c128 iter_args(%s = %z) -> (f32) {
      %e = arith.addi %b, %c128 : index
      %u = scf.for %j = %b to %e step %c1 iter_args(%v = %s) -> (f32) {
        %a = memref.load %x[%i, %j] : memref<?x2048xf32>
        %d = arith.subf %a, %m : f32
        memref.store %d, %row[%j] : memref<2048xf32>
        %r = arith.addf %v, %d : f32
        scf.yield %r : f32
      }
      scf.yield %u : f32
    }
    scf.for %j = %c0 to %c2048 step %c1 {
      %a = memref.load %row[%j] : memref<2048xf32>
      %r = arith.divf %a, %t : f32
      memref.store %r, %y[%i, %j] : memref<?x2048xf32>
    }
  }
  return
}

// -----

// So it is where a block is added up part by part, as of a layer norm.
// CHECK-LABEL: func.func private @parts(
// CHECK-SAME:      %[[X:[^:]*]]: memref<?x2048xf32>, %[[Y:[^:]*]]: memref<?x2048xf32>
// CHECK:         scf.for %[[FIRST:.*]] = %c0 to %c2048 step %c64
// CHECK-COUNT-4:     memref.prefetch %[[X]][%{{.*}}, %{{.*}}], read
// CHECK-COUNT-4:     memref.prefetch %[[Y]][%{{.*}}, %{{.*}}], write
// CHECK-NOT:         memref.prefetch
// CHECK:             scf.for
// CHECK-NOT:       memref.prefetch
// CHECK:         return
func.func private @parts(%x: memref<?x2048xf32>, %y: memref<?x2048xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c2048 = arith.constant 2048 : index
  %z = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %t = scf.for %b = %c0 to %c2048 step %c64 iter_args(%s = %z) -> (f32) {
      %half = arith.addi %b, %c32 : index
      %u = scf.for %j = %c0 to %c32 step %c1 iter_args(%v = %s) -> (f32) {
        %p = arith.addi %b, %j : index
        %a = memref.load %x[%i, %p] : memref<?x2048xf32>
        %q = arith.addi %half, %j : index
        %d = memref.load %x[%i, %q] : memref<?x2048xf32>
        %e = arith.addf %a, %d : f32
        %r = arith.addf %v, %e : f32
        scf.yield %r : f32
      }
      scf.yield %u : f32
    }
    scf.for %j = %c0 to %c2048 step %c1 {
      %a = memref.load %x[%i, %j] : memref<?x2048xf32>
      %r = arith.divf %a, %t : f32
      memref.store %r, %y[%i, %j] : memref<?x2048xf32>
    }
  }
  return
}

// -----

// Short rows are there soon; what is not known to be long may be short.
// CHECK-LABEL: func.func private @short(
// CHECK-NOT:     memref.prefetch
// CHECK:         return
func.func private @short(%x: memref<?x256xf32>, %y: memref<?x256xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %z = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %t = scf.for %b = %c0 to %c256 step %c128 iter_args(%s = %z) -> (f32) {
      %e = arith.addi %b, %c128 : index
      %u = scf.for %j = %b to %e step %c1 iter_args(%v = %s) -> (f32) {
        %a = memref.load %x[%i, %j] : memref<?x256xf32>
        %r = arith.addf %v, %a : f32
        scf.yield %r : f32
      }
      scf.yield %u : f32
    }
    scf.for %j = %c0 to %c256 step %c1 {
      memref.store %t, %y[%i, %j] : memref<?x256xf32>
    }
  }
  return
}
