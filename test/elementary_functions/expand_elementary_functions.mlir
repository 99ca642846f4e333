// RUN: tcp-opt %s -expand-elementary-functions | FileCheck %s

// Functions of f32 become arithmetic that does not branch.

// CHECK-LABEL: func.func @of_numbers(
// CHECK-NOT:     math.{{exp|tanh|erf|powf}}
// CHECK-NOT:     scf.
// CHECK:         return
func.func @of_numbers(%x: f32, %y: f32) -> (f32, f32, f32, f32) {
  %0 = math.exp %x : f32
  %1 = math.tanh %x : f32
  %2 = math.erf %y : f32
  %3 = math.powf %x, %y : f32
  return %0, %1, %2, %3 : f32, f32, f32, f32
}

// So do those of vectors, as kernels have them.

// CHECK-LABEL: func.func @of_vectors(
// CHECK:         arith.bitcast %{{.*}} : vector<16xf32> to vector<16xi32>
// CHECK:         arith.mului_extended %{{.*}}, %{{.*}} : vector<16xi32>
// CHECK-NOT:     math.sin
// CHECK:         return %{{.*}} : vector<16xf32>, vector<4x8xf32>
func.func @of_vectors(%x: vector<16xf32>, %y: vector<4x8xf32>) -> (vector<16xf32>, vector<4x8xf32>) {
  %0 = math.sin %x : vector<16xf32>
  %1 = math.log1p %y : vector<4x8xf32>
  return %0, %1 : vector<16xf32>, vector<4x8xf32>
}

// Of half precision, widened to f32, angles take no products of 64 bits. What has been computed in
// f32 has more bits.

// CHECK-LABEL: func.func @of_halves(
// CHECK-NOT:     mului_extended
// CHECK-NOT:     math.{{sin|cos|tan}}
// CHECK:         return
func.func @of_halves(%x: f16, %y: vector<16xbf16>) -> (f32, vector<16xf32>, f32) {
  %0 = arith.extf %x : f16 to f32
  %1 = math.sin %0 : f32
  %2 = arith.extf %y : vector<16xbf16> to vector<16xf32>
  %3 = math.cos %2 : vector<16xf32>
  %4 = math.tan %0 : f32
  return %1, %3, %4 : f32, vector<16xf32>, f32
}

// CHECK-LABEL: func.func @of_twice_a_half(
// CHECK:         mului_extended
func.func @of_twice_a_half(%x: bf16) -> f32 {
  %0 = arith.extf %x : bf16 to f32
  %1 = arith.addf %0, %0 : f32
  %2 = math.sin %1 : f32
  return %2 : f32
}

// To add 1 to tanh(x) would cancel: both are one function.

// CHECK-LABEL: func.func @of_one_more(
// CHECK-NOT:     math.tanh
// CHECK:         %[[SUM:.*]] = arith.divf
// CHECK-NEXT:    return %[[SUM]] : f32
func.func @of_one_more(%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %0 = math.tanh %x : f32
  %1 = arith.addf %one, %0 : f32
  return %1 : f32
}

// Those of f64 do too, with what is lost in rounding.

// CHECK-LABEL: func.func @of_doubles(
// CHECK-NOT:     math.{{log|sin}}
// CHECK:         arith.mului_extended %{{.*}}, %{{.*}} : i64
// CHECK-NOT:     math.{{log|sin}}
// CHECK:         return
func.func @of_doubles(%x: f64) -> (f64, f64) {
  %0 = math.log %x : f64
  %1 = math.sin %x : f64
  return %0, %1 : f64, f64
}

// Remainders are found in f64, 28 bits of the quotient at a time: of an unknown divisor in ten steps,
// by 0.7 in five. Those of f64 are, where the quotient is small, and else in a loop; LLVM takes apart
// vectors of them.

// CHECK-LABEL: func.func @of_remainders(
// CHECK-NOT:     scf.
// CHECK-COUNT-20: arith.subf {{.*}} : vector<8xf64>
// CHECK-NOT:     arith.remf
// CHECK:         math.copysign %{{.*}} : vector<8xf32>
// CHECK-COUNT-10: arith.subf {{.*}} : f64
// CHECK-NOT:     arith.subf
// CHECK:         math.copysign %{{.*}} : f32
// CHECK:         scf.if
// CHECK-NOT:     scf.while
// CHECK:           arith.divf %{{.*}} : f64
// CHECK:         } else {
// CHECK:           scf.while
// CHECK:         arith.remf %{{.*}} : vector<4xf64>
// CHECK-NOT:     arith.remf
func.func @of_remainders(%x: vector<8xf32>, %y: vector<8xf32>, %z: f32, %u: f64, %v: f64, %w: vector<4xf64>)
    -> (vector<8xf32>, f32, f64, vector<4xf64>) {
  %0 = arith.remf %x, %y : vector<8xf32>
  %c = arith.constant 0.7 : f32
  %1 = arith.remf %z, %c : f32
  %2 = arith.remf %u, %v : f64
  %3 = arith.remf %w, %w : vector<4xf64>
  return %0, %1, %2, %3 : vector<8xf32>, f32, f64, vector<4xf64>
}

// What hardware does itself stays as it is.

// CHECK-LABEL: func.func @of_hardware(
// CHECK-NEXT:    math.sqrt
// CHECK-NEXT:    math.absf
// CHECK-NEXT:    return
func.func @of_hardware(%x: f32) -> (f32, f32) {
  %0 = math.sqrt %x : f32
  %1 = math.absf %x : f32
  return %0, %1 : f32, f32
}

// Of what is never above 0, 2^n needs one factor, and is not chosen by the sign of n.

// CHECK-LABEL: func.func @of_at_most_0(
// CHECK-COUNT-2: arith.shli
// CHECK-NOT:     math.exp
// CHECK-NOT:     arith.shrui
// CHECK:         return
func.func @of_at_most_0(%x: f32, %y: f32) -> (f32, f32) {
  %size = math.absf %x : f32
  %negative = arith.negf %size : f32
  %0 = math.exp %negative : f32
  %greater = arith.maximumf %x, %y : f32
  %lesser = arith.minimumf %x, %y : f32
  %difference = arith.subf %lesser, %greater : f32
  %1 = math.exp %difference : f32
  return %0, %1 : f32, f32
}

// Nor is what the greatest of a row was found among, be it computed again, or read from where it
// was put.

// CHECK-LABEL: func.func @of_rows(
// CHECK-COUNT-2: arith.shli
// CHECK-NOT:     math.exp
// CHECK-NOT:     arith.shrui
// CHECK:         return
func.func @of_rows(%x: memref<4x8xf32>, %out: memref<4x8xf32> {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %least = arith.constant 0xFF800000 : f32
  %row = memref.alloca() : memref<8xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    %most = scf.for %j = %c0 to %c8 step %c1 iter_args(%so_far = %least) -> f32 {
      %element = memref.load %x[%i, %j] : memref<4x8xf32>
      %two = arith.constant 2.0 : f32
      %twice = arith.mulf %element, %two : f32
      memref.store %twice, %row[%j] : memref<8xf32>
      %greater = arith.maximumf %so_far, %twice : f32
      scf.yield %greater : f32
    }
    scf.for %j = %c0 to %c8 step %c1 {
      %element = memref.load %x[%i, %j] : memref<4x8xf32>
      %two = arith.constant 2.0 : f32
      %twice = arith.mulf %element, %two : f32
      %difference = arith.subf %twice, %most : f32
      %exp = math.exp %difference : f32
      memref.store %exp, %out[%i, %j] : memref<4x8xf32>
    }
    scf.for %j = %c0 to %c8 step %c1 {
      %twice = memref.load %row[%j] : memref<8xf32>
      %difference = arith.subf %twice, %most : f32
      %exp = math.exp %difference : f32
      memref.store %exp, %out[%i, %j] : memref<4x8xf32>
    }
  }
  return
}

// Else it may be above 0: what is in other places, computed otherwise, beyond the greatest one, or
// written since.

// CHECK-LABEL: func.func @of_other_rows(
// CHECK-COUNT-5: arith.shrui
// CHECK:         return
func.func @of_other_rows(%x: memref<4x8xf32>, %y: memref<8xf32> {llvm.noalias}, %out: memref<4x8xf32> {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %least = arith.constant 0xFF800000 : f32
  scf.for %i = %c0 to %c4 step %c1 {
    %most = scf.for %j = %c1 to %c8 step %c1 iter_args(%so_far = %least) -> f32 {
      %element = memref.load %x[%i, %j] : memref<4x8xf32>
      %greater = arith.maximumf %so_far, %element : f32
      scf.yield %greater : f32
    }
    scf.for %j = %c1 to %c8 step %c1 {
      %element = memref.load %x[%j, %j] : memref<4x8xf32>
      %difference = arith.subf %element, %most : f32
      %exp = math.exp %difference : f32
      memref.store %exp, %out[%i, %j] : memref<4x8xf32>
    }
    scf.for %j = %c1 to %c8 step %c1 {
      %element = memref.load %x[%i, %j] : memref<4x8xf32>
      %negative = arith.negf %element : f32
      %difference = arith.subf %negative, %most : f32
      %exp = math.exp %difference : f32
      memref.store %exp, %out[%i, %j] : memref<4x8xf32>
    }
    scf.for %j = %c0 to %c8 step %c1 {
      %element = memref.load %x[%i, %j] : memref<4x8xf32>
      %difference = arith.subf %element, %most : f32
      %exp = math.exp %difference : f32
      memref.store %exp, %out[%i, %j] : memref<4x8xf32>
    }
    %other = scf.for %j = %c0 to %c8 step %c1 iter_args(%so_far = %least) -> f32 {
      %element = memref.load %y[%j] : memref<8xf32>
      %greater = arith.maximumf %so_far, %element : f32
      scf.yield %greater : f32
    }
    scf.for %j = %c0 to %c8 step %c1 {
      %element = memref.load %x[%i, %j] : memref<4x8xf32>
      memref.store %element, %y[%j] : memref<8xf32>
    }
    scf.for %j = %c0 to %c8 step %c1 {
      %element = memref.load %y[%j] : memref<8xf32>
      %difference = arith.subf %element, %other : f32
      %exp = math.exp %difference : f32
      memref.store %exp, %out[%i, %j] : memref<4x8xf32>
    }
    scf.for %j = %c0 to %c8 step %c1 {
      %element = memref.load %x[%i, %j] : memref<4x8xf32>
      %difference = arith.subf %other, %element : f32
      %exp = math.exp %difference : f32
      memref.store %exp, %out[%i, %j] : memref<4x8xf32>
    }
  }
  return
}

// Or what a copy writes to, or a store that may be to the same memory.

// CHECK-LABEL: func.func @of_shared_rows(
// CHECK-COUNT-2: arith.shrui
// CHECK:         return
func.func @of_shared_rows(%x: memref<8xf32>, %y: memref<8xf32>, %out: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %least = arith.constant 0xFF800000 : f32
  %row = memref.alloca() : memref<8xf32>
  memref.copy %x, %row : memref<8xf32> to memref<8xf32>
  %most = scf.for %j = %c0 to %c8 step %c1 iter_args(%so_far = %least) -> f32 {
    %element = memref.load %x[%j] : memref<8xf32>
    %greater = arith.maximumf %so_far, %element : f32
    scf.yield %greater : f32
  }
  scf.for %j = %c0 to %c8 step %c1 {
    %element = memref.load %x[%j] : memref<8xf32>
    %difference = arith.subf %element, %most : f32
    %exp = math.exp %difference : f32
    memref.store %exp, %out[%c0] : memref<8xf32>
  }
  %other = scf.for %j = %c0 to %c8 step %c1 iter_args(%so_far = %least) -> f32 {
    %element = memref.load %row[%j] : memref<8xf32>
    %greater = arith.maximumf %so_far, %element : f32
    scf.yield %greater : f32
  }
  memref.copy %y, %row : memref<8xf32> to memref<8xf32>
  scf.for %j = %c0 to %c8 step %c1 {
    %element = memref.load %row[%j] : memref<8xf32>
    %difference = arith.subf %element, %other : f32
    %exp = math.exp %difference : f32
    memref.store %exp, %out[%j] : memref<8xf32>
  }
  return
}

// A power of 2 is exp2, which nothing is computed in f64 for.

// CHECK-LABEL: func.func @of_two(
// CHECK-NOT:     f64
// CHECK:         return
func.func @of_two(%x: f32) -> f32 {
  %two = arith.constant 2.0 : f32
  %0 = math.powf %two, %x : f32
  return %0 : f32
}

// What may be approximate is left to the GPU.

// CHECK-LABEL: func.func @approximate(
// CHECK:         math.exp2 %{{.*}} fastmath<afn> : f32
func.func @approximate(%x: f32) -> f32 {
  %0 = math.exp2 %x fastmath<afn> : f32
  return %0 : f32
}
