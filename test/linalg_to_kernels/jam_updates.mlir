// RUN: tcp-opt %s -jam-updates -canonicalize -cse -split-input-file | FileCheck %s

// Four rows that go to one place are added to it in their order, and it is stored once. If they go
// to several, each is done by itself, as are those that are left.
// CHECK-LABEL: func.func private @rows(
// CHECK-SAME:      %[[TO:[^:]*]]: memref<10xi64>
// CHECK-SAME:      %[[X:[^:]*]]: memref<10x64xf32>
// CHECK-SAME:      %[[Y:[^:]*]]: memref<?x64xf32>
// CHECK:         scf.for %[[I:.*]] = %c0 to %c8 step %c4 {
// CHECK-COUNT-4:   memref.load %[[TO]]
// CHECK-COUNT-3:   arith.cmpi eq
// CHECK:           scf.if
// CHECK-NEXT:        scf.for %[[J:.*]] = %c0 to %c64 step %c1 {
// CHECK-NEXT:          %[[OLD:.*]] = memref.load %[[Y]]
// CHECK-NEXT:          %[[A:.*]] = memref.load %[[X]][%[[I]], %[[J]]]
// CHECK-NEXT:          %[[S:.*]] = arith.addf %[[OLD]], %[[A]]
// CHECK-NEXT:          %[[B:.*]] = memref.load %[[X]]
// CHECK-NEXT:          %[[T:.*]] = arith.addf %[[S]], %[[B]]
// CHECK-NEXT:          memref.load %[[X]]
// CHECK-NEXT:          arith.addf %[[T]]
// CHECK-NEXT:          memref.load %[[X]]
// CHECK-NEXT:          %[[NEW:.*]] = arith.addf
// CHECK-NEXT:          memref.store %[[NEW]], %[[Y]][%{{.*}}, %[[J]]]
// CHECK-NEXT:        }
// CHECK-NEXT:      } else {
// CHECK:             scf.for %{{.*}} = %[[I]] to %{{.*}} step %c1 {
// CHECK:         scf.for %{{.*}} = %c8 to %c10 step %c1 {
func.func private @rows(%to: memref<10xi64> {llvm.noalias}, %x: memref<10x64xf32> {llvm.noalias},
                        %y: memref<?x64xf32> {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c10 step %c1 {
    scf.for %j = %c0 to %c64 step %c1 {
      %0 = memref.load %to[%i] : memref<10xi64>
      %1 = arith.index_cast %0 : i64 to index
      %2 = memref.load %x[%i, %j] : memref<10x64xf32>
      %3 = memref.load %y[%1, %j] : memref<?x64xf32>
      %4 = arith.addf %3, %2 : f32
      memref.store %4, %y[%1, %j] : memref<?x64xf32>
    }
  }
  return
}

// -----

// Each element has a place of its own.
// CHECK-LABEL: func.func private @elements(
// CHECK-NOT:     scf.if
func.func private @elements(%to: memref<10x64xi64> {llvm.noalias}, %x: memref<10x64xf32> {llvm.noalias},
                            %y: memref<?x64xf32> {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c10 step %c1 {
    scf.for %j = %c0 to %c64 step %c1 {
      %0 = memref.load %to[%i, %j] : memref<10x64xi64>
      %1 = arith.index_cast %0 : i64 to index
      %2 = memref.load %x[%i, %j] : memref<10x64xf32>
      %3 = memref.load %y[%1, %j] : memref<?x64xf32>
      %4 = arith.addf %3, %2 : f32
      memref.store %4, %y[%1, %j] : memref<?x64xf32>
    }
  }
  return
}

// -----

// Rows that are one after another in the result are never one.
// CHECK-LABEL: func.func private @own_rows(
// CHECK-NOT:     scf.if
func.func private @own_rows(%from: memref<10xi64> {llvm.noalias}, %x: memref<10x64xf32> {llvm.noalias},
                            %y: memref<10x64xf32> {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c10 step %c1 {
    scf.for %j = %c0 to %c64 step %c1 {
      %0 = memref.load %from[%i] : memref<10xi64>
      %1 = arith.index_cast %0 : i64 to index
      %2 = memref.load %x[%1, %j] : memref<10x64xf32>
      %3 = memref.load %y[%i, %j] : memref<10x64xf32>
      %4 = arith.addf %3, %2 : f32
      memref.store %4, %y[%i, %j] : memref<10x64xf32>
    }
  }
  return
}

// -----

// What is read may be what has just been written.
// CHECK-LABEL: func.func private @shared(
// CHECK-NOT:     scf.if
func.func private @shared(%to: memref<10xi64>, %x: memref<10x64xf32>, %y: memref<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c10 step %c1 {
    scf.for %j = %c0 to %c64 step %c1 {
      %0 = memref.load %to[%i] : memref<10xi64>
      %1 = arith.index_cast %0 : i64 to index
      %2 = memref.load %x[%i, %j] : memref<10x64xf32>
      %3 = memref.load %y[%1, %j] : memref<?x64xf32>
      %4 = arith.addf %3, %2 : f32
      memref.store %4, %y[%1, %j] : memref<?x64xf32>
    }
  }
  return
}
