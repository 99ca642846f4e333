// RUN: tcp-opt %s -block-sums | FileCheck %s

// What is computed in f32 is added up in f32 for 128 elements, and that in f64.
// CHECK-LABEL: func.func private @powers(
// CHECK-SAME:      %[[X:[^:]*]]: memref<?xf32>, %[[Y:[^:]*]]: memref<?xf32>, %[[N:[^:]*]]: index
// CHECK-DAG:     %[[START:.*]] = arith.constant 1.000000e+00 : f64
// CHECK:         %[[ALL:.*]] = scf.for %[[FIRST:.*]] = %c0 to %[[N]] step %c128{{.*}} iter_args(%[[TOTAL:.*]] = %[[START]]) -> (f64) {
// CHECK:           %[[BEYOND:.*]] = arith.addi %[[FIRST]], %c128
// CHECK:           %[[END:.*]] = arith.minsi %[[BEYOND]], %[[N]]
// CHECK:           %[[NONE:.*]] = arith.constant -0.000000e+00 : f32
// CHECK:           %[[PART:.*]] = scf.for %[[I:.*]] = %[[FIRST]] to %[[END]] step %{{.*}} iter_args(%[[SUM:.*]] = %[[NONE]]) -> (f32) {
// CHECK:             memref.load %[[X]][%[[I]]]
// CHECK:             memref.store %[[TERM:.*]], %[[Y]][%[[I]]]
// CHECK-NEXT:        %[[NEXT:.*]] = arith.addf %[[SUM]], %[[TERM]] fastmath<reassoc,contract> : f32
// CHECK-NEXT:        scf.yield %[[NEXT]] : f32
// CHECK:           %[[WIDE:.*]] = arith.extf %[[PART]] : f32 to f64
// CHECK-NEXT:      arith.addf %[[TOTAL]], %[[WIDE]]
// CHECK:         return %[[ALL]] : f64
func.func private @powers(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 1.0 : f64
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (f64) {
    %a = memref.load %x[%i] : memref<?xf32>
    %b = arith.mulf %a, %a : f32
    %c = arith.mulf %b, %a : f32
    %d = arith.mulf %c, %a : f32
    %e = arith.mulf %d, %a : f32
    %f = arith.addf %e, %b : f32
    %g = arith.addf %f, %a : f32
    %h = arith.mulf %g, %a : f32
    memref.store %h, %y[%i] : memref<?xf32>
    %w = arith.extf %h : f32 to f64
    %r = arith.addf %s, %w fastmath<reassoc,contract> : f64
    scf.yield %r : f64
  }
  return %0 : f64
}

// A plain sum is bound by memory, and stays exact; one that is to be in order stays so.
// CHECK-LABEL: func.func private @others(
// CHECK-NOT:     -> (f32)
// CHECK:         return
func.func private @others(%x: memref<?xf32>, %n: index) -> (f64, f64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f64
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (f64) {
    %a = memref.load %x[%i] : memref<?xf32>
    %w = arith.extf %a : f32 to f64
    %r = arith.addf %s, %w fastmath<reassoc,contract> : f64
    scf.yield %r : f64
  }
  %1 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (f64) {
    %a = memref.load %x[%i] : memref<?xf32>
    %b = arith.mulf %a, %a : f32
    %c = arith.mulf %b, %a : f32
    %d = arith.mulf %c, %a : f32
    %e = arith.mulf %d, %a : f32
    %f = arith.addf %e, %b : f32
    %g = arith.addf %f, %a : f32
    %h = arith.mulf %g, %a : f32
    %w = arith.extf %h : f32 to f64
    %r = arith.addf %s, %w : f64
    scf.yield %r : f64
  }
  return %0, %1 : f64, f64
}
