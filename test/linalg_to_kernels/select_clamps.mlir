// RUN: tcp-opt %s -select-clamps | FileCheck %s

// The number stays where it is NaN, and where both are zeros.
// CHECK-LABEL: func.func @clamp(
// CHECK-SAME:      %[[X:[^:]*]]: f32
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG:     %[[SIX:.*]] = arith.constant 6.000000e+00 : f32
// CHECK:         %[[BELOW:.*]] = arith.cmpf olt, %[[X]], %[[ZERO]] : f32
// CHECK:         %[[POSITIVE:.*]] = arith.select %[[BELOW]], %[[ZERO]], %[[X]] : f32
// CHECK:         %[[ABOVE:.*]] = arith.cmpf ogt, %[[POSITIVE]], %[[SIX]] : f32
// CHECK:         %[[RESULT:.*]] = arith.select %[[ABOVE]], %[[SIX]], %[[POSITIVE]] : f32
// CHECK:         return %[[RESULT]]
func.func @clamp(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %six = arith.constant 6.0 : f32
  %0 = arith.maximumf %zero, %x : f32
  %1 = arith.minimumf %0, %six : f32
  return %1 : f32
}

// CHECK-LABEL: func.func @vectors(
// CHECK-SAME:      %[[X:[^:]*]]: vector<16xf32>
// CHECK:         arith.cmpf olt, %[[X]], %{{.*}} : vector<16xf32>
// CHECK:         arith.select %{{.*}}, %{{.*}}, %[[X]] : vector<16xi1>, vector<16xf32>
// CHECK:         arith.cmpf ogt, %[[X]], %{{.*}} : vector<16xf32>
// CHECK-NOT:     imumf
func.func @vectors(%x: vector<16xf32>) -> (vector<16xf32>, vector<16xf32>) {
  %zeros = arith.constant dense<0.0> : vector<16xf32>
  %six = arith.constant 6.0 : f32
  %sixes = vector.broadcast %six : f32 to vector<16xf32>
  %0 = arith.maximumf %x, %zeros : vector<16xf32>
  %1 = arith.minimumf %x, %sixes : vector<16xf32>
  return %0, %1 : vector<16xf32>, vector<16xf32>
}

// Of NaN nothing is known to be greater, and a number that is no constant may be NaN.
// CHECK-LABEL: func.func @others(
// CHECK:         arith.maximumf
// CHECK:         arith.minimumf
// CHECK:         arith.maximumf
func.func @others(%x: f32, %y: f32, %z: vector<2xf32>) -> (f32, f32, vector<2xf32>) {
  %nan = arith.constant 0x7FC00000 : f32
  %several = arith.constant dense<[0.0, 1.0]> : vector<2xf32>
  %0 = arith.maximumf %x, %nan : f32
  %1 = arith.minimumf %x, %y : f32
  %2 = arith.maximumf %z, %several : vector<2xf32>
  return %0, %1, %2 : f32, f32, vector<2xf32>
}
