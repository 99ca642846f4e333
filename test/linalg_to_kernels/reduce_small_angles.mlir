// RUN: tcp-opt %s -reduce-small-angles | FileCheck %s

// A loop over 256 elements looks at their angles, and they are all done in one of two ways.
// CHECK-LABEL: func.func private @sines(
// CHECK-SAME:      %[[X:[^:]*]]: memref<?xf32>, %[[Y:[^:]*]]: memref<?xf32> {llvm.noalias}, %[[N:[^:]*]]: index
// CHECK:         scf.for %[[FIRST:.*]] = %c0 to %[[N]] step %c256
// CHECK:           %[[BEYOND:.*]] = arith.addi %[[FIRST]], %c256
// CHECK:           %[[END:.*]] = arith.minsi %[[BEYOND]], %[[N]]
// CHECK:           %[[FOUND:.*]] = scf.for %[[I:.*]] = %[[FIRST]] to %[[END]] {{.*}} iter_args(%[[SO_FAR:.*]] = %[[NONE:.*]]) -> (i32) {
// CHECK-NEXT:        %[[A:.*]] = memref.load %[[X]][%[[I]]]
// CHECK-NEXT:        %[[ANGLE:.*]] = arith.addf %[[A]], %[[A]]
// CHECK-NEXT:        %[[SIZE:.*]] = math.absf %[[ANGLE]]
// CHECK:             %[[IS:.*]] = arith.cmpf oge, %[[SIZE]], %{{.*}}
// CHECK-NEXT:        %[[WIDE:.*]] = arith.extui %[[IS]]
// CHECK-NEXT:        arith.ori %[[SO_FAR]], %[[WIDE]]
// CHECK:           %[[SMALL:.*]] = arith.cmpi eq, %[[FOUND]], %[[NONE]]
// CHECK:           scf.if %[[SMALL]] {
// CHECK:             scf.for %{{.*}} = %[[FIRST]] to %[[END]]
// CHECK:               math.sin %{{.*}} {plumbline.small_angle}
// CHECK:               memref.store
// CHECK:           } else {
// CHECK:             scf.for %{{.*}} = %[[FIRST]] to %[[END]]
// CHECK:               math.sin %{{[^{]*}} : f32
func.func private @sines(%x: memref<?xf32>, %y: memref<?xf32> {llvm.noalias}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<?xf32>
    %b = arith.addf %a, %a : f32
    %c = math.sin %b : f32
    %d = math.exp %c : f32
    memref.store %d, %y[%i] : memref<?xf32>
  }
  return
}

// So are those of a size, as Bessel functions take.
// CHECK-LABEL: func.func private @of_sizes(
// CHECK:         scf.if
// CHECK:           math.cos %{{.*}} {plumbline.small_angle}
func.func private @of_sizes(%x: memref<?xf64>, %y: memref<?xf64> {llvm.noalias}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<?xf64>
    %b = math.absf %a : f64
    %c = math.cos %b : f64
    memref.store %c, %y[%i] : memref<?xf64>
  }
  return
}

// A sum goes on from block to block, and few elements are one block.
// CHECK-LABEL: func.func private @sums(
// CHECK:         %[[ALL:.*]] = scf.for %{{.*}} step %c256{{.*}} iter_args(%[[TOTAL:.*]] = %{{.*}}) -> (f64) {
// CHECK:           %[[PART:.*]] = scf.if %{{.*}} -> (f64) {
// CHECK:             scf.for %{{.*}} iter_args(%{{.*}} = %[[TOTAL]]) -> (f64) {
// CHECK:               math.cos %{{.*}} {plumbline.small_angle}
// CHECK:           } else {
// CHECK:             scf.for %{{.*}} iter_args(%{{.*}} = %[[TOTAL]]) -> (f64) {
// CHECK:           scf.yield %[[PART]] : f64
// CHECK:         scf.for {{.*}} -> (i64) {
// CHECK:         scf.if %{{.*}} -> (f64) {
func.func private @sums(%x: memref<?xf64>, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c40 = arith.constant 40 : index
  %z = arith.constant 0.0 : f64
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (f64) {
    %a = memref.load %x[%i] : memref<?xf64>
    %b = math.cos %a : f64
    %r = arith.addf %s, %b : f64
    scf.yield %r : f64
  }
  %1 = scf.for %i = %c0 to %c40 step %c1 iter_args(%s = %0) -> (f64) {
    %a = memref.load %x[%i] : memref<?xf64>
    %b = math.tan %a : f64
    %r = arith.addf %s, %b : f64
    scf.yield %r : f64
  }
  return %1 : f64
}

// It is left where angles may depend on what is written or summed, take functions, are of f16, whose
// numbers are all small, or are read across lines, and where there are few.
// CHECK-LABEL: func.func private @others(
// CHECK-NOT:     scf.if
// CHECK:         return
func.func private @others(%x: memref<?xf32>, %h: memref<?xf16>, %m: memref<?x8xf32>,
                          %y: memref<?xf32> {llvm.noalias}, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %z = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<?xf32>
    %b = math.sin %a : f32
    memref.store %b, %x[%i] : memref<?xf32>
  }
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (f32) {
    %b = math.sin %s : f32
    scf.yield %b : f32
  }
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<?xf32>
    %b = math.exp %a : f32
    %c = math.sin %b : f32
    memref.store %c, %y[%i] : memref<?xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %h[%i] : memref<?xf16>
    %b = arith.extf %a : f16 to f32
    %c = math.sin %b : f32
    memref.store %c, %y[%i] : memref<?xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %m[%i, %c0] : memref<?x8xf32>
    %b = math.sin %a : f32
    memref.store %b, %y[%i] : memref<?xf32>
  }
  scf.for %i = %c0 to %c8 step %c1 {
    %a = memref.load %x[%i] : memref<?xf32>
    %b = math.sin %a : f32
    memref.store %b, %y[%i] : memref<?xf32>
  }
  return %0 : f32
}
