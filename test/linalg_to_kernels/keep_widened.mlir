// RUN: tcp-opt %s -keep-widened | FileCheck %s

// What is rounded to an integer is given its sign again.
// CHECK-LABEL: func.func @floor(
// CHECK:         %[[WIDE:.*]] = arith.extf
// CHECK:         %[[FLOOR:.*]] = math.floor %[[WIDE]] : f32
// CHECK:         %[[SAME:.*]] = math.copysign %[[FLOOR]], %[[WIDE]] : f32
// CHECK:         arith.truncf %[[SAME]]
func.func @floor(%x: f16) -> f16 {
  %0 = arith.extf %x : f16 to f32
  %1 = math.floor %0 : f32
  %2 = arith.truncf %1 : f32 to f16
  return %2 : f16
}

// LLVM knows nothing of bf16, and sees all of what is f32.
// CHECK-LABEL: func.func @others(
// CHECK-NOT:     math.copysign
func.func @others(%x: bf16, %y: f32) -> (f32, f32) {
  %0 = arith.extf %x : bf16 to f32
  %1 = math.ceil %0 : f32
  %2 = math.ceil %y : f32
  return %1, %2 : f32, f32
}

// One of the first two operands is no mere f16; the extreme of them then is none, either.
// CHECK-LABEL: func.func @greatest(
// CHECK:         %[[A:.*]] = arith.extf
// CHECK:         %[[B:.*]] = arith.extf
// CHECK:         %[[C:.*]] = arith.extf
// CHECK:         %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<4xf32>
// CHECK:         %[[SUM:.*]] = arith.addf %[[A]], %[[ZERO]] : vector<4xf32>
// CHECK:         %[[FIRST:.*]] = arith.maximumf %[[SUM]], %[[B]] : vector<4xf32>
// CHECK:         arith.maximumf %[[FIRST]], %[[C]] fastmath<nsz>
func.func @greatest(%x: vector<4xf16>, %y: vector<4xf16>, %z: vector<4xf16>) -> vector<4xf32> {
  %0 = arith.extf %x : vector<4xf16> to vector<4xf32>
  %1 = arith.extf %y : vector<4xf16> to vector<4xf32>
  %2 = arith.extf %z : vector<4xf16> to vector<4xf32>
  %3 = arith.maximumf %0, %1 fastmath<nsz> : vector<4xf32>
  %4 = arith.maximumf %3, %2 fastmath<nsz> : vector<4xf32>
  return %4 : vector<4xf32>
}

// Where the sign of zero matters, nothing is added.
// CHECK-LABEL: func.func @signed(
// CHECK-NOT:     arith.addf
func.func @signed(%x: f16, %y: f16) -> f32 {
  %0 = arith.extf %x : f16 to f32
  %1 = arith.extf %y : f16 to f32
  %2 = arith.minimumf %0, %1 : f32
  return %2 : f32
}
