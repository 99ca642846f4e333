// RUN: tcp-opt %s -sum-short-rows -canonicalize -cse -split-input-file | FileCheck %s
// RUN: tcp-opt %s "-sum-short-rows=vector-bytes=64 vector-registers=32" -canonicalize -cse -split-input-file | FileCheck %s --check-prefix=WIDE

// Twenty elements are two vectors of eight, and one of four. Of the first two each four elements are
// added up in f32. What that gives is widened, as is the third vector.
// CHECK-LABEL: func.func private @sums(
// CHECK:         scf.for %[[I:.*]] = %c0 to %c100 step %c1 {
// CHECK-NEXT:      %[[A:.*]] = vector.load %{{.*}}[%[[I]], %c0] : memref<100x20xf32>, vector<8xf32>
// CHECK-NEXT:      %[[B:.*]] = vector.load %{{.*}}[%[[I]], %c8] : memref<100x20xf32>, vector<8xf32>
// CHECK-NEXT:      %[[C:.*]] = vector.load %{{.*}}[%[[I]], %c16] : memref<100x20xf32>, vector<4xf32>
// CHECK-NEXT:      %[[AB:.*]] = arith.addf %[[A]], %[[B]] : vector<8xf32>
// CHECK-DAG:       %[[LOW:.*]] = vector.shuffle %[[AB]], %{{.*}} [0, 1, 2, 3]
// CHECK-DAG:       %[[HIGH:.*]] = vector.shuffle %[[AB]], %{{.*}} [4, 5, 6, 7]
// CHECK:           %[[OF_4:.*]] = arith.addf %[[LOW]], %[[HIGH]] : vector<4xf32>
// CHECK-DAG:       %[[D:.*]] = arith.extf %[[OF_4]] : vector<4xf32> to vector<4xf64>
// CHECK-DAG:       %[[E:.*]] = arith.extf %[[C]] : vector<4xf32> to vector<4xf64>
// CHECK:           %[[DE:.*]] = arith.addf %[[D]], %[[E]] : vector<4xf64>
// CHECK-NEXT:      %[[TOTAL:.*]] = vector.reduction <add>, %[[DE]], %cst fastmath<reassoc> : vector<4xf64> into f64
// CHECK-NEXT:      arith.truncf %[[TOTAL]]
// WIDE-LABEL:  func.func private @sums(
// WIDE:          vector.load {{.*}} vector<16xf32>
// WIDE-NEXT:     vector.load {{.*}} vector<4xf32>
func.func private @sums(%x: memref<100x20xf32>, %y: memref<100xf32>) {
  %cst = arith.constant 0.0 : f64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c20 = arith.constant 20 : index
  %c100 = arith.constant 100 : index
  scf.for %i = %c0 to %c100 step %c1 {
    %0 = scf.for %j = %c0 to %c20 step %c1 iter_args(%sum = %cst) -> (f64) {
      %2 = memref.load %x[%i, %j] : memref<100x20xf32>
      %3 = arith.extf %2 : f32 to f64
      %4 = arith.addf %sum, %3 fastmath<reassoc,contract> : f64
      scf.yield %4 : f64
    }
    %1 = arith.truncf %0 : f64 to f32
    memref.store %1, %y[%i] : memref<100xf32>
  }
  return
}

// -----

// The last vector, of as few elements as there may be, ends with the row: of the one that it has in
// common with the one before it has a zero.
// CHECK-LABEL: func.func private @last_elements(
// CHECK-DAG:     %[[LEFT:.*]] = arith.constant dense<[false, true, true, true]> : vector<4xi1>
// CHECK-DAG:     %[[NONE:.*]] = arith.constant dense<-0.000000e+00> : vector<4xf32>
// CHECK:         scf.for %[[I:.*]] =
// CHECK:           %[[C:.*]] = vector.load %{{.*}}[%[[I]], %c15] : memref<100x19xf32>, vector<4xf32>
// CHECK-NEXT:      %[[SQUARES:.*]] = arith.mulf %[[C]], %[[C]] : vector<4xf32>
// CHECK-NEXT:      arith.select %[[LEFT]], %[[SQUARES]], %[[NONE]]
func.func private @last_elements(%x: memref<100x19xf32>, %y: memref<100xf32>) {
  %cst = arith.constant 0.0 : f64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c19 = arith.constant 19 : index
  %c100 = arith.constant 100 : index
  scf.for %i = %c0 to %c100 step %c1 {
    %0 = scf.for %j = %c0 to %c19 step %c1 iter_args(%sum = %cst) -> (f64) {
      %2 = memref.load %x[%i, %j] : memref<100x19xf32>
      %3 = arith.mulf %2, %2 : f32
      %4 = arith.extf %3 : f32 to f64
      %5 = arith.addf %sum, %4 fastmath<reassoc,contract> : f64
      scf.yield %5 : f64
    }
    %1 = arith.truncf %0 : f64 to f32
    memref.store %1, %y[%i] : memref<100xf32>
  }
  return
}

// -----

// What is asked for in f64 is added up in f64.
// CHECK-LABEL: func.func private @exact(
// CHECK:         vector.load {{.*}} vector<8xf32>
// CHECK-NEXT:    arith.extf {{.*}} vector<8xf32> to vector<8xf64>
// CHECK-NOT:     arith.addf {{.*}} vector<8xf32>
func.func private @exact(%x: memref<100x16xf32>, %y: memref<100xf64>) {
  %cst = arith.constant 0.0 : f64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c100 = arith.constant 100 : index
  scf.for %i = %c0 to %c100 step %c1 {
    %0 = scf.for %j = %c0 to %c16 step %c1 iter_args(%sum = %cst) -> (f64) {
      %1 = memref.load %x[%i, %j] : memref<100x16xf32>
      %2 = arith.extf %1 : f32 to f64
      %3 = arith.addf %sum, %2 fastmath<reassoc,contract> : f64
      scf.yield %3 : f64
    }
    memref.store %0, %y[%i] : memref<100xf64>
  }
  return
}

// -----

// Elements that are not side by side, rows of eight, and sums in an order stay as they are.
// CHECK-LABEL: func.func private @others(
// CHECK-NOT:     vector
func.func private @others(%x: memref<20x100xf32>, %y: memref<100xf32>, %z: memref<100x8xf32>, %w: memref<100x20xf32>) {
  %cst = arith.constant 0.0 : f64
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c20 = arith.constant 20 : index
  %c100 = arith.constant 100 : index
  scf.for %i = %c0 to %c100 step %c1 {
    %0 = scf.for %j = %c0 to %c20 step %c1 iter_args(%sum = %cst) -> (f64) {
      %2 = memref.load %x[%j, %i] : memref<20x100xf32>
      %3 = arith.extf %2 : f32 to f64
      %4 = arith.addf %sum, %3 fastmath<reassoc,contract> : f64
      scf.yield %4 : f64
    }
    %1 = arith.truncf %0 : f64 to f32
    memref.store %1, %y[%i] : memref<100xf32>
  }
  scf.for %i = %c0 to %c100 step %c1 {
    %0 = scf.for %j = %c0 to %c8 step %c1 iter_args(%sum = %cst) -> (f64) {
      %2 = memref.load %z[%i, %j] : memref<100x8xf32>
      %3 = arith.extf %2 : f32 to f64
      %4 = arith.addf %sum, %3 fastmath<reassoc,contract> : f64
      scf.yield %4 : f64
    }
    %1 = arith.truncf %0 : f64 to f32
    memref.store %1, %y[%i] : memref<100xf32>
  }
  scf.for %i = %c0 to %c100 step %c1 {
    %0 = scf.for %j = %c0 to %c20 step %c1 iter_args(%sum = %zero) -> (f32) {
      %1 = memref.load %w[%i, %j] : memref<100x20xf32>
      %2 = arith.addf %sum, %1 : f32
      scf.yield %2 : f32
    }
    memref.store %0, %y[%i] : memref<100xf32>
  }
  return
}
