// RUN: tcp-opt %s -block-scans -canonicalize -cse -split-input-file | FileCheck %s

// Each block is added up by itself, and then to what came before; the rest goes one by one.
// CHECK-LABEL: func.func private @scan(
// CHECK-SAME:      %[[X:[^:]*]]: memref<?xf32> {llvm.noalias}, %[[Y:[^:]*]]: memref<?xf32> {llvm.noalias}, %[[N:[^:]*]]: index
// CHECK:         %[[REST:.*]] = arith.remui
// CHECK:         %[[END:.*]] = arith.subi %{{.*}}, %[[REST]]
// CHECK:         %[[LAST:.*]] = scf.for %{{.*}} = %c0 to %[[END]] step %c8 iter_args(%[[BEFORE:.*]] = %cst)
// CHECK:           memref.load %[[X]]
// CHECK:           %[[FIRST:.*]] = arith.extf
// CHECK:           memref.load %[[X]]
// CHECK:           %[[SECOND:.*]] = arith.extf
// CHECK-COUNT-6:   arith.extf
// CHECK:           %[[TWO:.*]] = arith.addf %[[FIRST]], %[[SECOND]]
// CHECK-COUNT-6:   arith.addf %{{.*}}, %{{.*}} fastmath<reassoc>
// CHECK:           arith.addf %[[BEFORE]], %[[FIRST]]
// CHECK:           memref.store
// CHECK:           arith.addf %[[BEFORE]], %[[TWO]]
// CHECK-COUNT-7:   memref.store
// CHECK:           scf.yield
// CHECK:         scf.for %{{.*}} = %[[END]] to %[[N]] step %c1 iter_args(%{{.*}} = %[[LAST]])
// CHECK-COUNT-1:   memref.store
func.func private @scan(%x: memref<?xf32> {llvm.noalias}, %y: memref<?xf32> {llvm.noalias}, %n: index) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (f64) {
    %a = memref.load %x[%i] : memref<?xf32>
    %w = arith.extf %a : f32 to f64
    %r = arith.addf %s, %w fastmath<reassoc> : f64
    %t = arith.truncf %r : f64 to f32
    memref.store %t, %y[%i] : memref<?xf32>
    scf.yield %r : f64
  }
  return
}

// -----

// Neither a sum, nor a scan that may write what it is yet to read, nor one that is to be in order.
// CHECK-LABEL: func.func private @others(
// CHECK-NOT:     step %c8
// CHECK:         return
func.func private @others(%x: memref<?xf32> {llvm.noalias}, %y: memref<?xf32>, %z: memref<?xf32> {llvm.noalias}, %n: index) -> f32 attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (f32) {
    %a = memref.load %x[%i] : memref<?xf32>
    %r = arith.addf %s, %a fastmath<reassoc> : f32
    scf.yield %r : f32
  }
  %1 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (f32) {
    %a = memref.load %x[%i] : memref<?xf32>
    %r = arith.addf %s, %a fastmath<reassoc> : f32
    memref.store %r, %x[%i] : memref<?xf32>
    scf.yield %r : f32
  }
  %2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (f32) {
    %a = memref.load %x[%i] : memref<?xf32>
    %r = arith.addf %s, %a fastmath<reassoc> : f32
    memref.store %r, %y[%i] : memref<?xf32>
    scf.yield %r : f32
  }
  %3 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (f32) {
    %a = memref.load %x[%i] : memref<?xf32>
    %r = arith.addf %s, %a : f32
    memref.store %r, %z[%i] : memref<?xf32>
    scf.yield %r : f32
  }
  return %0 : f32
}
