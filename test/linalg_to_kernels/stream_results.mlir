// RUN: tcp-opt %s -split-input-file -stream-results | FileCheck %s

// A result of 16 MiB is stored by vectors past the caches, if it begins at a line. What is the same
// for all elements stays a number. A chain of operations is done for four vectors at once.
// CHECK-LABEL: func.func private @rows(
// CHECK-SAME:      %[[X:[^:]*]]: memref<1024x4096xf32>, %[[W:[^:]*]]: memref<1x4096xf32>, %[[M:[^:]*]]: memref<1024xf32>, %[[Y:[^:]*]]: memref<1024x4096xf32>
// CHECK:         %[[ADDRESS:.*]] = memref.extract_aligned_pointer_as_index %[[Y]]
// CHECK:         %[[WITHIN:.*]] = arith.remui %[[ADDRESS]], %c64
// CHECK:         %[[ALIGNED:.*]] = arith.cmpi eq, %[[WITHIN]]
// CHECK:         scf.for %[[ROW:.*]] =
// CHECK:           scf.if %[[ALIGNED]]
// CHECK:             scf.for %[[AT:.*]] = %{{.*}} to %c4096{{.*}} step %c8
// CHECK-DAG:           %[[A:.*]] = vector.load %[[X]][%[[ROW]], %[[AT]]] : memref<1024x4096xf32>, vector<8xf32>
// CHECK-DAG:           %[[B:.*]] = vector.load %[[W]][%{{.*}}, %[[AT]]]
// CHECK-DAG:           %[[MEAN:.*]] = memref.load %[[M]][%[[ROW]]]
// CHECK:               vector.broadcast %[[MEAN]] : f32 to vector<8xf32>
// CHECK:               %[[C:.*]] = arith.mulf %{{.*}}, %[[B]] fastmath<contract> : vector<8xf32>
// CHECK:               vector.store %[[C]], %[[Y]][%[[ROW]], %[[AT]]] {alignment = 32 : i64, nontemporal = true}
// CHECK:           } else {
// CHECK:             scf.for %{{.*}} = %{{.*}} to %c4096{{.*}} step %c1
// CHECK:               memref.store %{{.*}}, %[[Y]]
// CHECK:         llvm.fence seq_cst
// CHECK-NEXT:    return
func.func private @rows(%x: memref<1024x4096xf32>, %w: memref<1x4096xf32>, %m: memref<1024xf32>, %y: memref<1024x4096xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1024 = arith.constant 1024 : index
  %c4096 = arith.constant 4096 : index
  scf.for %i = %c0 to %c1024 step %c1 {
    scf.for %j = %c0 to %c4096 step %c1 {
      %a = memref.load %x[%i, %j] : memref<1024x4096xf32>
      %b = memref.load %w[%c0, %j] : memref<1x4096xf32>
      %mean = memref.load %m[%i] : memref<1024xf32>
      %d = arith.subf %a, %mean : f32
      %e = arith.mulf %d, %b fastmath<contract> : f32
      memref.store %e, %y[%i, %j] : memref<1024x4096xf32>
    }
  }
  return
}

// -----

// Four vectors of a row of 4104 leave 8 elements.
// CHECK-LABEL: func.func private @rest(
// CHECK:         scf.for %{{.*}} = %{{.*}} to %c4096{{.*}} step %c32
// CHECK:           vector.store {{.*}} {alignment = 32 : i64, nontemporal = true} : memref<1024x4104xf32>, vector<32xf32>
// CHECK:         scf.for %{{.*}} = %c4096{{.*}} to %c4104
// CHECK:           memref.store
func.func private @rest(%x: memref<1024x4104xf32>, %y: memref<1024x4104xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1024 = arith.constant 1024 : index
  %c4104 = arith.constant 4104 : index
  scf.for %i = %c0 to %c1024 step %c1 {
    scf.for %j = %c0 to %c4104 step %c1 {
      %a0 = memref.load %x[%i, %j] : memref<1024x4104xf32>
      %a1 = arith.addf %a0, %a0 : f32
      %a2 = arith.mulf %a1, %a0 : f32
      %a3 = arith.addf %a2, %a0 : f32
      %a4 = arith.mulf %a3, %a0 : f32
      %a5 = arith.addf %a4, %a0 : f32
      %a6 = arith.mulf %a5, %a0 : f32
      %a7 = arith.addf %a6, %a0 : f32
      %a8 = arith.mulf %a7, %a0 : f32
      %a9 = arith.addf %a8, %a0 : f32
      %b0 = arith.mulf %a9, %a0 : f32
      %b1 = arith.addf %b0, %a0 : f32
      %b2 = arith.mulf %b1, %a0 : f32
      %b3 = arith.addf %b2, %a0 : f32
      %b4 = arith.mulf %b3, %a0 : f32
      %b5 = arith.addf %b4, %a0 : f32
      %b6 = arith.mulf %b5, %a0 : f32
      memref.store %b6, %y[%i, %j] : memref<1024x4104xf32>
    }
  }
  return
}

// -----

// Not so: what is read again, is smaller, is computed of so little that it stays in a cache, has rows
// that begin anywhere, is asked for before it is written, is stored to other places, or is computed
// from where it is.
// CHECK-LABEL: func.func private @read_again(
// CHECK-NOT:     nontemporal
// CHECK-NOT:     llvm.fence
func.func private @read_again(%y: memref<8388608xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 8388608 : index
  scf.for %j = %c0 to %n step %c1 {
    %a = memref.load %y[%j] : memref<8388608xf32>
    %b = arith.negf %a : f32
    memref.store %b, %y[%j] : memref<8388608xf32>
  }
  return
}

// -----

// CHECK-LABEL: func.func private @smaller(
// CHECK-NOT:     nontemporal
func.func private @smaller(%x: f32, %y: memref<4194296xf32>, %z: memref<8388608xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 4194296 : index
  scf.for %j = %c0 to %n step %c1 {
    memref.store %x, %y[%j] : memref<4194296xf32>
  }
  return
}

// -----

// CHECK-LABEL: func.func private @alone(
// CHECK-NOT:     nontemporal
func.func private @alone(%x: f32, %y: memref<8388600xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 8388600 : index
  scf.for %j = %c0 to %n step %c1 {
    memref.store %x, %y[%j] : memref<8388600xf32>
  }
  return
}

// -----

// CHECK-LABEL: func.func private @rows_that_begin_anywhere(
// CHECK-NOT:     nontemporal
func.func private @rows_that_begin_anywhere(%x: f32, %y: memref<2048x4100xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2048 = arith.constant 2048 : index
  %c4100 = arith.constant 4100 : index
  scf.for %i = %c0 to %c2048 step %c1 {
    scf.for %j = %c0 to %c4100 step %c1 {
      memref.store %x, %y[%i, %j] : memref<2048x4100xf32>
    }
  }
  return
}

// -----

// CHECK-LABEL: func.func private @asked_for(
// CHECK-NOT:     nontemporal
func.func private @asked_for(%x: f32, %y: memref<8388608xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 8388608 : index
  memref.prefetch %y[%c0], write, locality<3>, data : memref<8388608xf32>
  scf.for %j = %c0 to %n step %c1 {
    memref.store %x, %y[%j] : memref<8388608xf32>
  }
  return
}

// -----

// CHECK-LABEL: func.func private @other_places(
// CHECK-NOT:     nontemporal
func.func private @other_places(%x: f32, %y: memref<4096x4096xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 4096 : index
  scf.for %j = %c0 to %n step %c1 {
    memref.store %x, %y[%j, %c0] : memref<4096x4096xf32>
    memref.store %x, %y[%j, %j] : memref<4096x4096xf32>
  }
  return
}

// -----

// CHECK-LABEL: func.func private @where_it_is(
// CHECK-NOT:     nontemporal
func.func private @where_it_is(%y: memref<8388608xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 8388608 : index
  scf.for %j = %c0 to %n step %c1 {
    %a = arith.index_cast %j : index to i32
    memref.store %a, %y[%j] : memref<8388608xi32>
  }
  return
}
