// RUN: tcp-opt %s -fuse-products -canonicalize | FileCheck %s

// CHECK-LABEL: func.func @fused(
// CHECK-SAME:      %[[X:.*]]: f32, %[[Y:.*]]: f32, %[[Z:.*]]: f32)
// CHECK-DAG:     %[[HALF:.*]] = arith.constant 5.000000e-01 : f32
// CHECK-DAG:     %[[ALL:.*]] = math.fma %[[X]], %[[Y]], %[[Z]] : f32
// CHECK-DAG:     %[[OF_HALF:.*]] = math.fma %[[X]], %[[HALF]], %[[Z]] : f32
// CHECK:         return %[[ALL]], %[[OF_HALF]]
func.func @fused(%x: f32, %y: f32, %z: f32) -> (f32, f32) {
  %half = arith.constant 0.5 : f64
  %0 = arith.extf %x : f32 to f64
  %1 = arith.extf %y : f32 to f64
  %2 = arith.extf %z : f32 to f64
  %3 = arith.mulf %0, %1 : f64
  %4 = arith.addf %3, %2 : f64
  %5 = arith.truncf %4 : f64 to f32
  %6 = arith.mulf %0, %half : f64
  %7 = arith.addf %2, %6 : f64
  %8 = arith.truncf %7 : f64 to f32
  return %5, %8 : f32, f32
}

// A number that f32 does not have is not rounded to it, nor is what has been computed.
// CHECK-LABEL: func.func @not(
// CHECK-NOT:     math.fma
// CHECK:         return
func.func @not(%x: f32, %y: f32, %z: f64) -> (f32, f32, f32) {
  %tenth = arith.constant 0.1 : f64
  %great = arith.constant 1.0e300 : f64
  %0 = arith.extf %x : f32 to f64
  %1 = arith.extf %y : f32 to f64
  %2 = arith.mulf %0, %tenth : f64
  %3 = arith.addf %2, %1 : f64
  %4 = arith.truncf %3 : f64 to f32
  %5 = arith.mulf %0, %1 : f64
  %6 = arith.addf %5, %z : f64
  %7 = arith.truncf %6 : f64 to f32
  %8 = arith.addf %5, %great : f64
  %9 = arith.truncf %8 : f64 to f32
  return %4, %7, %9 : f32, f32, f32
}
