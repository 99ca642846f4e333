// RUN: tcp-opt %s -block-scans -canonicalize -cse -split-input-file | FileCheck %s --check-prefixes=CHECK,LARGE
// RUN: tcp-opt %s '-block-scans=vector-bytes=64 vector-registers=32' -canonicalize -cse -split-input-file | FileCheck %s --check-prefix=WIDE
// RUN: tcp-opt %s '-block-scans=vector-bytes=16 vector-registers=16' -canonicalize -cse -split-input-file | FileCheck %s --check-prefixes=CHECK,SMALL

// Lanes of a block are added up with those before them, and then to what came before; the rest goes
// one by one. Of large registers the upper half of each part takes what the lower half comes to, of
// small ones each lane what one before it has.
// CHECK-LABEL: func.func private @scan(
// CHECK-SAME:      %[[X:[^:]*]]: memref<?xf32> {llvm.noalias}, %[[Y:[^:]*]]: memref<?xf32> {llvm.noalias}, %[[N:[^:]*]]: index
// CHECK:         %[[REST:.*]] = arith.remui
// CHECK:         %[[END:.*]] = arith.subi %{{.*}}, %[[REST]]
// CHECK:         %[[BLOCKS:.*]] = scf.for %{{.*}} = %c0 to %[[END]] step %c8 iter_args(%[[BEFORE:.*]] = %{{.*}}) -> (vector<8xf64>)
// CHECK:           memref.load %[[X]]
// CHECK:           %[[FIRST:.*]] = arith.extf
// CHECK-COUNT-7:   arith.extf
// CHECK:           %[[LANES:.*]] = vector.from_elements %[[FIRST]]
// LARGE:           %[[TAKEN:.*]] = vector.shuffle %[[LANES]], %{{.*}} [0, 0, 2, 2, 4, 4, 6, 6]
// SMALL:           %[[TAKEN:.*]] = vector.shuffle %[[LANES]], %{{.*}} [0, 0, 1, 2, 3, 4, 5, 6]
// CHECK:           %[[TWO:.*]] = arith.addf %[[TAKEN]], %[[LANES]] fastmath<reassoc>
// LARGE:           %[[PAIRS:.*]] = vector.shuffle %[[LANES]], %[[TWO]] [0, 9, 2, 11, 4, 13, 6, 15]
// LARGE:           vector.shuffle %[[PAIRS]], %{{.*}} [0, 1, 1, 1, 4, 5, 5, 5]
// LARGE:           vector.shuffle %{{.*}} [0, 1, 2, 3, 3, 3, 3, 3]
// SMALL:           %[[PAIRS:.*]] = vector.shuffle %[[LANES]], %[[TWO]] [0, 9, 10, 11, 12, 13, 14, 15]
// SMALL:           vector.shuffle %[[PAIRS]], %{{.*}} [0, 1, 0, 1, 2, 3, 4, 5]
// SMALL:           vector.shuffle %{{.*}} [0, 1, 2, 3, 0, 1, 2, 3]
// CHECK:           %[[WITHIN:.*]] = vector.shuffle %{{.*}} [0, 1, 2, 3, 12, 13, 14, 15]
// CHECK:           %[[ALL:.*]] = vector.shuffle %[[WITHIN]], %{{.*}} [7, 7, 7, 7, 7, 7, 7, 7]
// CHECK:           arith.addf %[[BEFORE]], %[[WITHIN]]
// CHECK-COUNT-8:   memref.store
// CHECK:           %[[NEXT:.*]] = arith.addf %[[BEFORE]], %[[ALL]]
// CHECK:           scf.yield %[[NEXT]]
// CHECK:         %[[LAST:.*]] = vector.extract %[[BLOCKS]][7]
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

// A register of AVX-512 has a block of 16 elements, unless there are fewer.
// CHECK-LABEL: func.func private @single(
// LARGE:         step %c8
// SMALL:         step %c8
// WIDE:          scf.for %{{.*}} step %c16 iter_args(%{{.*}} = %{{.*}}) -> (vector<16xf32>)
// WIDE:            vector.shuffle %{{.*}} [0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10, 12, 12, 14, 14]
// WIDE:            vector.shuffle %{{.*}} [0, 1, 2, 3, 4, 5, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7]
// WIDE-COUNT-16:   memref.store
// WIDE:          vector.from_elements %{{.*}} : vector<8xf32>
func.func private @single(%x: memref<?xf32> {llvm.noalias}, %y: memref<?xf32> {llvm.noalias}, %n: index) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c12 = arith.constant 12 : index
  %least = arith.constant 0xFF800000 : f32
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %least) -> (f32) {
    %a = memref.load %x[%i] : memref<?xf32>
    %r = arith.maximumf %s, %a : f32
    memref.store %r, %y[%i] : memref<?xf32>
    scf.yield %r : f32
  }
  %1 = scf.for %i = %c0 to %c12 step %c1 iter_args(%s = %least) -> (f32) {
    %a = memref.load %x[%i] : memref<?xf32>
    %r = arith.maximumf %s, %a : f32
    memref.store %r, %y[%i] : memref<?xf32>
    scf.yield %r : f32
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

// -----

// Several operations combine, of which only who built the loop knows that their order is free.
// CHECK-LABEL: func.func private @several(
// CHECK:         scf.for %{{.*}} step %c8 iter_args(%[[BEFORE:.*]] = %{{.*}}) -> (vector<8xf32>)
// CHECK-COUNT-3:   arith.minimumf %{{.*}} : vector<8xf32>
// CHECK:           arith.maximumf %[[BEFORE]], %{{.*}} : vector<8xf32>
// CHECK:         scf.for %{{.*}} step %c1 iter_args
// CHECK:           arith.minimumf %{{.*}} : f32
// CHECK:         scf.for %{{.*}} = %c0 to %{{.*}} step %c1 iter_args
// CHECK:           arith.minimumf %{{.*}} : f32
func.func private @several(%x: memref<?xf32> {llvm.noalias}, %y: memref<?xf32> {llvm.noalias}, %n: index) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (f32) {
    %a = memref.load %x[%i] : memref<?xf32>
    %g = arith.maximumf %s, %a : f32
    %l = arith.minimumf %s, %a : f32
    %r = arith.addf %g, %l : f32
    memref.store %r, %y[%i] : memref<?xf32>
    scf.yield %r : f32
  } {plumbline.scan}
  %1 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (f32) {
    %a = memref.load %x[%i] : memref<?xf32>
    %g = arith.maximumf %s, %a : f32
    %l = arith.minimumf %s, %a : f32
    %r = arith.addf %g, %l : f32
    memref.store %r, %y[%i] : memref<?xf32>
    scf.yield %r : f32
  }
  return
}
