// RUN: tcp-opt %s -split-input-file -transpose-tiles | FileCheck %s

// Squares of eight rows are read along the outer loop, and written along the inner one; what is the
// same for a row stays a number. What is left in either direction is done one by one.
// CHECK-LABEL: func.func private @rows(
// CHECK-SAME:      %[[X:[^:]*]]: memref<30x20xf32>, %[[W:[^:]*]]: memref<20xf32>, %[[V:[^:]*]]: memref<30xf32>, %[[Y:[^:]*]]: memref<20x30xf32>
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %c8
// CHECK:           scf.for %[[J:.*]] = %{{.*}} to %{{.*}} step %c8
// CHECK:             %[[FIRST:.*]] = vector.load %[[X]][%{{.*}}, %[[I]]] : memref<30x20xf32>, vector<8xf32>
// CHECK-COUNT-7:     vector.load %[[X]][%{{.*}}, %[[I]]] : memref<30x20xf32>, vector<8xf32>
// CHECK:             vector.shuffle
// CHECK-COUNT-8:     vector.store %{{.*}}, %[[Y]][%{{.*}}, %[[J]]]
// CHECK-NOT:         vector.store
// CHECK:           scf.for %{{.*}} step %c1
// CHECK:             scf.for %{{.*}} step %c1
// CHECK:               memref.store %{{.*}}, %[[Y]]
// CHECK:         scf.for %{{.*}} step %c1
// CHECK:           scf.for %{{.*}} step %c1
// CHECK:             memref.store %{{.*}}, %[[Y]]
// CHECK:         return
func.func private @rows(%x: memref<30x20xf32>, %w: memref<20xf32>, %v: memref<30xf32>, %y: memref<20x30xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c20 = arith.constant 20 : index
  %c30 = arith.constant 30 : index
  scf.for %i = %c0 to %c20 step %c1 {
    scf.for %j = %c0 to %c30 step %c1 {
      %a = memref.load %x[%j, %i] : memref<30x20xf32>
      %b = memref.load %w[%i] : memref<20xf32>
      %c = memref.load %v[%j] : memref<30xf32>
      %d = arith.mulf %a, %b : f32
      %e = arith.addf %d, %c : f32
      memref.store %e, %y[%i, %j] : memref<20x30xf32>
    }
  }
  return
}

// -----

// Of columns from the last one on the vectors begin at the last row of a square, and what comes of
// the first lane is for that row.
// CHECK-LABEL: func.func private @turned(
// CHECK-SAME:      %[[X:[^:]*]]: memref<16x16xf32>, %[[Y:[^:]*]]: memref<16x16xf32>
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %c8
// CHECK:           scf.for %[[J:.*]] = %{{.*}} to %{{.*}} step %c8
// CHECK:             %[[LAST:.*]] = arith.addi %[[I]], %c7
// CHECK:             %[[FIRST:.*]] = arith.subi %c15, %[[LAST]]
// CHECK:             vector.load %[[X]][%{{.*}}, %[[FIRST]]] : memref<16x16xf32>, vector<8xf32>
func.func private @turned(%x: memref<16x16xf32>, %y: memref<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c15 = arith.constant 15 : index
  %c16 = arith.constant 16 : index
  scf.for %i = %c0 to %c16 step %c1 {
    scf.for %j = %c0 to %c16 step %c1 {
      %column = arith.subi %c15, %i : index
      %a = memref.load %x[%j, %column] : memref<16x16xf32>
      memref.store %a, %y[%i, %j] : memref<16x16xf32>
    }
  }
  return
}

// -----

// Loops stay as they are that read along the inner one, write to what they read, or write elsewhere
// than along the inner one, or to one place for all rows.
// CHECK-LABEL: func.func private @others(
// CHECK-NOT:     vector.
// CHECK:         return
func.func private @others(%x: memref<32x32xf32>, %y: memref<32x32xf32>, %z: memref<32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %c32 step %c1 {
    scf.for %j = %c0 to %c32 step %c1 {
      %a = memref.load %x[%i, %j] : memref<32x32xf32>
      memref.store %a, %y[%i, %j] : memref<32x32xf32>
    }
  }
  scf.for %i = %c0 to %c32 step %c1 {
    scf.for %j = %c0 to %c32 step %c1 {
      %a = memref.load %y[%j, %i] : memref<32x32xf32>
      memref.store %a, %y[%i, %j] : memref<32x32xf32>
    }
  }
  scf.for %i = %c0 to %c32 step %c1 {
    scf.for %j = %c0 to %c32 step %c1 {
      %a = memref.load %x[%j, %i] : memref<32x32xf32>
      memref.store %a, %y[%j, %i] : memref<32x32xf32>
    }
  }
  scf.for %i = %c0 to %c32 step %c1 {
    scf.for %j = %c0 to %c32 step %c1 {
      %a = memref.load %x[%j, %i] : memref<32x32xf32>
      memref.store %a, %z[%j] : memref<32xf32>
    }
  }
  return
}

// -----

// Of bytes a vector has more lanes than a square is worth rows.
// CHECK-LABEL: func.func private @bytes(
// CHECK-COUNT-16: vector.load %{{.*}} : memref<64x64xi8>, vector<16xi8>
// CHECK-COUNT-16: vector.store %{{.*}} : memref<64x64xi8>, vector<16xi8>
func.func private @bytes(%x: memref<64x64xi8>, %y: memref<64x64xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    scf.for %j = %c0 to %c64 step %c1 {
      %a = memref.load %x[%j, %i] : memref<64x64xi8>
      memref.store %a, %y[%i, %j] : memref<64x64xi8>
    }
  }
  return
}

// -----

// Booleans are bytes while rows and columns are exchanged.
// CHECK-LABEL: func.func private @booleans(
// CHECK:         vector.load %{{.*}} : memref<32x32xi1>, vector<16xi1>
// CHECK:         arith.extui %{{.*}} : vector<16xi1> to vector<16xi8>
// CHECK:         vector.shuffle %{{.*}} : vector<16xi8>, vector<16xi8>
// CHECK:         arith.trunci %{{.*}} : vector<16xi8> to vector<16xi1>
// CHECK:         arith.andi %{{.*}} : vector<16xi1>
// CHECK:         vector.store %{{.*}} : memref<32x32xi1>, vector<16xi1>
func.func private @booleans(%x: memref<32x32xi1>, %y: memref<32x32xi1>, %z: memref<32x32xi1>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %c32 step %c1 {
    scf.for %j = %c0 to %c32 step %c1 {
      %a = memref.load %x[%j, %i] : memref<32x32xi1>
      %b = memref.load %y[%i, %j] : memref<32x32xi1>
      %c = arith.andi %a, %b : i1
      memref.store %c, %z[%i, %j] : memref<32x32xi1>
    }
  }
  return
}

// -----

// Of pairs, such as complex numbers, two vectors are read for each of one part.
// CHECK-LABEL: func.func private @parts(
// CHECK:         %[[PAIRS:.*]] = vector.load %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] : memref<32x32x2xf32>, vector<16xf32>
// CHECK:         vector.shuffle %[[PAIRS]], %[[PAIRS]] [1, 3, 5, 7, 9, 11, 13, 15] : vector<16xf32>, vector<16xf32>
// CHECK-COUNT-8: vector.store %{{.*}} : memref<32x32xf32>, vector<8xf32>
func.func private @parts(%x: memref<32x32x2xf32>, %y: memref<32x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %c32 step %c1 {
    scf.for %j = %c0 to %c32 step %c1 {
      %a = memref.load %x[%j, %i, %c1] : memref<32x32x2xf32>
      memref.store %a, %y[%i, %j] : memref<32x32xf32>
    }
  }
  return
}

// -----

// What is farther apart is read one by one.
// CHECK-LABEL: func.func private @apart(
// CHECK-NOT:     vector.load
func.func private @apart(%x: memref<32x32x2xf32, strided<[128, 4, 1]>>, %y: memref<32x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %c32 step %c1 {
    scf.for %j = %c0 to %c32 step %c1 {
      %a = memref.load %x[%j, %i, %c1] : memref<32x32x2xf32, strided<[128, 4, 1]>>
      memref.store %a, %y[%i, %j] : memref<32x32xf32>
    }
  }
  return
}
