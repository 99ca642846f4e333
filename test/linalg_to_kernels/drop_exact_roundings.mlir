// RUN: tcp-opt %s -drop-exact-roundings -canonicalize | FileCheck %s

// A byte less another one is rounded to bf16 as it is, and a product with a scale is not.

// CHECK-LABEL: func.func @bytes(
// CHECK-SAME:    %[[W:.*]]: i8, %[[Z:.*]]: i8, %[[S:.*]]: f32)
// CHECK-DAG:     %[[WEIGHT:.*]] = arith.uitofp %[[W]] : i8 to f32
// CHECK-DAG:     %[[ZERO:.*]] = arith.uitofp %[[Z]] : i8 to f32
// CHECK:         %[[LESS:.*]] = arith.subf %[[WEIGHT]], %[[ZERO]] : f32
// CHECK-NEXT:    %[[SCALED:.*]] = arith.mulf %[[LESS]], %[[S]] : f32
// CHECK-NEXT:    %[[ROUNDED:.*]] = arith.truncf %[[SCALED]] : f32 to bf16
// CHECK-NEXT:    %[[RESULT:.*]] = arith.extf %[[ROUNDED]] : bf16 to f32
// CHECK-NEXT:    return %[[RESULT]]
func.func @bytes(%w: i8, %z: i8, %s: f32) -> f32 {
  %0 = arith.uitofp %w : i8 to bf16
  %1 = arith.uitofp %z : i8 to bf16
  %2 = arith.extf %0 : bf16 to f32
  %3 = arith.extf %1 : bf16 to f32
  %4 = arith.subf %2, %3 : f32
  %5 = arith.truncf %4 : f32 to bf16
  %6 = arith.extf %5 : bf16 to f32
  %7 = arith.mulf %6, %s : f32
  %8 = arith.truncf %7 : f32 to bf16
  %9 = arith.extf %8 : bf16 to f32
  return %9 : f32
}

// Of 129 steps more than 256 are not each a bf16, but a f16.

// CHECK-LABEL: func.func @further(
// CHECK:         arith.truncf {{.*}} to bf16
// CHECK-NOT:     to f16
func.func @further(%w: i8) -> (f32, f32) {
  %far = arith.constant -129.0 : f32
  %0 = arith.sitofp %w : i8 to f32
  %1 = arith.addf %0, %far : f32
  %2 = arith.truncf %1 : f32 to bf16
  %3 = arith.extf %2 : bf16 to f32
  %4 = arith.truncf %1 : f32 to f16
  %5 = arith.extf %4 : f16 to f32
  return %3, %5 : f32, f32
}

// CHECK-LABEL: func.func @words(
// CHECK:         arith.sitofp %{{.*}} : i16 to f16
// CHECK-LABEL: func.func @fractions(
// CHECK:         arith.truncf
func.func @words(%w: i16) -> f32 {
  %0 = arith.sitofp %w : i16 to f16
  %1 = arith.extf %0 : f16 to f32
  return %1 : f32
}

func.func @fractions(%w: i8) -> f32 {
  %third = arith.constant 0.3 : f32
  %0 = arith.sitofp %w : i8 to f32
  %1 = arith.addf %0, %third : f32
  %2 = arith.truncf %1 : f32 to bf16
  %3 = arith.extf %2 : bf16 to f32
  return %3 : f32
}

// The greatest of rounded numbers is the greatest number, rounded.

// CHECK-LABEL: func.func @greatest(
// CHECK:         %[[FOUND:.*]] = scf.for
// CHECK-NEXT:      %[[NUMBER:.*]] = memref.load
// CHECK-NEXT:      arith.maximumf %[[NUMBER]], %{{.*}} : f32
// CHECK:         %[[ROUNDED:.*]] = arith.truncf %[[FOUND]] : f32 to bf16
// CHECK-NEXT:    %[[RESULT:.*]] = arith.extf %[[ROUNDED]] : bf16 to f32
// CHECK-NEXT:    return %[[RESULT]]
func.func @greatest(%numbers: memref<?xf32>, %count: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %least = arith.constant 0xFF800000 : f32
  %0 = scf.for %i = %c0 to %count step %c1 iter_args(%so_far = %least) -> (f32) {
    %1 = memref.load %numbers[%i] : memref<?xf32>
    %2 = arith.truncf %1 : f32 to bf16
    %3 = arith.extf %2 : bf16 to f32
    %4 = arith.maximumf %3, %so_far : f32
    scf.yield %4 : f32
  }
  return %0 : f32
}

// But not where the loop begins with what may be no bf16, or adds them up.

// CHECK-LABEL: func.func @from_another(
// CHECK:           arith.truncf
// CHECK-NEXT:      arith.extf
// CHECK-NEXT:      arith.truncf
// CHECK-NEXT:      arith.extf
// CHECK-NEXT:      arith.minimumf
// CHECK-NEXT:      arith.addf
func.func @from_another(%numbers: memref<?xf32>, %count: index, %most: f32) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %least = arith.constant 0xFF800000 : f32
  %0:2 = scf.for %i = %c0 to %count step %c1 iter_args(%so_far = %most, %sum = %least) -> (f32, f32) {
    %1 = memref.load %numbers[%i] : memref<?xf32>
    %2 = arith.truncf %1 : f32 to bf16
    %3 = arith.extf %2 : bf16 to f32
    %5 = arith.truncf %so_far : f32 to bf16
    %6 = arith.extf %5 : bf16 to f32
    %4 = arith.minimumf %3, %so_far : f32
    %7 = arith.addf %sum, %6 : f32
    scf.yield %4, %7 : f32, f32
  }
  return %0#0, %0#1 : f32, f32
}

// What bf16 holds loses bits that are zero.

// CHECK-LABEL: func.func @greater(
// CHECK:           %[[GREATER:.*]] = arith.select
// CHECK:           %[[BITS:.*]] = arith.bitcast %[[GREATER]] : vector<4xf32> to vector<4xi32>
// CHECK:           %[[UPPER:.*]] = arith.shrui %[[BITS]]
// CHECK:           %[[KEPT:.*]] = arith.trunci %[[UPPER]] : vector<4xi32> to vector<4xi16>
// CHECK:           %[[RESULT:.*]] = arith.bitcast %[[KEPT]] : vector<4xi16> to vector<4xbf16>
// CHECK:           return %[[RESULT]]
func.func @greater(%x: vector<4xbf16>, %y: vector<4xbf16>, %is_x: vector<4xi1>) -> vector<4xbf16> {
  %least = arith.constant dense<-1.5> : vector<4xf32>
  %0 = arith.extf %x : vector<4xbf16> to vector<4xf32>
  %1 = arith.extf %y : vector<4xbf16> to vector<4xf32>
  %2 = math.absf %0 : vector<4xf32>
  %3 = arith.maximumf %1, %least : vector<4xf32>
  %4 = arith.select %is_x, %2, %3 : vector<4xi1>, vector<4xf32>
  %5 = arith.truncf %4 : vector<4xf32> to vector<4xbf16>
  return %5 : vector<4xbf16>
}

// But not numbers that it does not hold.

// CHECK-LABEL: func.func @others(
// CHECK-COUNT-3:   arith.truncf
func.func @others(%x: bf16, %y: f16, %z: f32) -> (bf16, bf16, bf16) {
  %tenth = arith.constant 0.1 : f32
  %0 = arith.extf %x : bf16 to f32
  %1 = arith.maximumf %0, %tenth : f32
  %2 = arith.truncf %1 : f32 to bf16
  %3 = arith.extf %y : f16 to f32
  %4 = arith.negf %3 : f32
  %5 = arith.truncf %4 : f32 to bf16
  %6 = arith.minimumf %0, %z : f32
  %7 = arith.truncf %6 : f32 to bf16
  return %2, %5, %7 : bf16, bf16, bf16
}


// What is negated in bf16 has its sign turned, which is no number that would be rounded.

// CHECK-LABEL: func.func @negated(
// CHECK-NEXT:    %[[SIGN:.*]] = arith.constant -32768 : i16
// CHECK-NEXT:    %[[BITS:.*]] = arith.bitcast %arg0 : bf16 to i16
// CHECK-NEXT:    %[[TURNED:.*]] = arith.xori %[[BITS]], %[[SIGN]] : i16
// CHECK-NEXT:    %[[RESULT:.*]] = arith.bitcast %[[TURNED]] : i16 to bf16
// CHECK-NEXT:    %[[OTHER:.*]] = arith.negf %arg1 : f16
// CHECK-NEXT:    return %[[RESULT]], %[[OTHER]]
func.func @negated(%x: bf16, %y: f16) -> (bf16, f16) {
  %0 = arith.negf %x : bf16
  %1 = arith.negf %y : f16
  return %0, %1 : bf16, f16
}
