// RUN: tcp-opt %s -vectorise-functions | FileCheck %s

// What is left of 40 elements is done by a mask, of booleans as of numbers.
// CHECK-LABEL: func.func @elements(
// CHECK:         %[[WHOLE:.*]] = arith.subi %c40, %c8
// CHECK:         scf.for %[[AT:.*]] = %c0 to %[[WHOLE]] step %c16
// CHECK-NEXT:      vector.load %arg0[%[[AT]]] : memref<40xf32>, vector<16xf32>
// CHECK-NEXT:      vector.load %arg1[%[[AT]]] : memref<40xi1>, vector<16xi1>
// CHECK-NEXT:      math.exp %{{.*}} : vector<16xf32>
// CHECK:           vector.store
// CHECK:         %[[MASK:.*]] = vector.create_mask %c8
// CHECK-NEXT:    %[[STEP:.*]] = arith.constant 16
// CHECK-NEXT:    scf.for %[[AT:.*]] = %[[WHOLE]] to %c40 step %[[STEP]]
// CHECK:           vector.maskedload %arg0[%[[AT]]], %[[MASK]]
// CHECK:           vector.maskedload %arg1[%[[AT]]], %[[MASK]]
// CHECK:           vector.maskedstore %arg2[%[[AT]]], %[[MASK]]
func.func @elements(%x: memref<40xf32>, %m: memref<40xi1>, %y: memref<40xf32> {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c40 = arith.constant 40 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c40 step %c1 {
    %e = memref.load %x[%i] : memref<40xf32>
    %b = memref.load %m[%i] : memref<40xi1>
    %f = math.exp %e : f32
    %g = arith.select %b, %f, %zero : f32
    memref.store %g, %y[%i] : memref<40xf32>
  }
  return
}

// A sum is carried in lanes, of which those without an element add nothing. A bound may be less
// than the first.
// CHECK-LABEL: func.func @sum(
// CHECK:         %[[ZEROS:.*]] = arith.constant dense<-0.000000e+00>
// CHECK:         %[[END:.*]] = arith.maxsi %c3, %arg2
// CHECK:         %[[LANES:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[ZEROS]])
// CHECK:           arith.addf %{{.*}} fastmath<reassoc> : vector<16xf32>
// CHECK:         %[[ALL:.*]] = scf.for %{{.*}} to %[[END]] step %{{.*}} iter_args(%{{.*}} = %[[LANES]])
// CHECK:           %[[ADDED:.*]] = arith.select %{{.*}} : vector<16xi1>, vector<16xf32>
// CHECK-NEXT:      arith.addf %{{.*}}, %[[ADDED]]
// CHECK:         %[[SUM:.*]] = vector.reduction <add>, %[[ALL]], %cst
// CHECK-NEXT:    return %[[SUM]]
func.func @sum(%x: memref<?xbf16>, %most: f32, %n: index) -> f32 {
  %c3 = arith.constant 3 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %i = %c3 to %n step %c1 iter_args(%s = %zero) -> f32 {
    %e = memref.load %x[%i] : memref<?xbf16>
    %w = arith.extf %e : bf16 to f32
    %d = arith.subf %w, %most : f32
    %f = math.tanh %d : f32
    %t = arith.addf %s, %f fastmath<reassoc> : f32
    scf.yield %t : f32
  }
  return %r : f32
}

// Loops stay whose elements wait for others, lie apart, are few, or are added up in their order;
// those that divide integers, by which lanes without an element would end the program, and those
// that compute nothing that is looked up.
// CHECK-LABEL: func.func @others(
// CHECK-NOT:     vector
// CHECK:         return
func.func @others(%x: memref<40xf32>, %y: memref<40xf32> {llvm.noalias}, %z: memref<40x40xf32>, %w: memref<40xi32>) -> f32 {
  %c5 = arith.constant 5 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c40 = arith.constant 40 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c1 to %c40 step %c1 {
    %j = arith.subi %i, %c1 : index
    %e = memref.load %x[%j] : memref<40xf32>
    %f = math.exp %e : f32
    memref.store %f, %x[%i] : memref<40xf32>
  }
  scf.for %i = %c0 to %c40 step %c1 {
    %e = memref.load %x[%c7] : memref<40xf32>
    %f = math.exp %e : f32
    memref.store %f, %x[%i] : memref<40xf32>
  }
  scf.for %i = %c0 to %c40 step %c1 {
    %e = memref.load %z[%i, %i] : memref<40x40xf32>
    %f = math.exp %e : f32
    memref.store %f, %y[%i] : memref<40xf32>
  }
  scf.for %i = %c0 to %c7 step %c1 {
    %e = memref.load %x[%i] : memref<40xf32>
    %f = math.exp %e : f32
    memref.store %f, %y[%i] : memref<40xf32>
  }
  scf.for %i = %c0 to %c40 step %c1 {
    %e = memref.load %x[%i] : memref<40xf32>
    %f = math.sin %e : f32
    memref.store %f, %y[%i] : memref<40xf32>
  }
  scf.for %i = %c0 to %c40 step %c1 {
    %e = memref.load %x[%i] : memref<40xf32>
    %f = math.exp %e : f32
    %n = memref.load %w[%i] : memref<40xi32>
    %q = arith.divsi %c5, %n : i32
    %g = arith.sitofp %q : i32 to f32
    %h = arith.addf %f, %g : f32
    memref.store %h, %y[%i] : memref<40xf32>
  }
  %r = scf.for %i = %c0 to %c40 step %c1 iter_args(%s = %zero) -> f32 {
    %e = memref.load %x[%i] : memref<40xf32>
    %f = math.erf %e : f32
    %t = arith.addf %s, %f : f32
    scf.yield %t : f32
  }
  return %r : f32
}

// What is computed in place is read and written by the same vector.
// CHECK-LABEL: func.func @in_place(
// CHECK:         vector.load %arg0
// CHECK:         math.erf %{{.*}} : vector<16xf32>
// CHECK:         vector.store
func.func @in_place(%x: memref<32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %c32 step %c1 {
    %e = memref.load %x[%i] : memref<32xf32>
    %f = math.erf %e : f32
    memref.store %f, %x[%i] : memref<32xf32>
  }
  return
}
