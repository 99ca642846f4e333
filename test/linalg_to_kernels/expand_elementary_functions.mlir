// RUN: tcp-opt %s -expand-elementary-functions | FileCheck %s

// Functions of f32, as loops have them, become arithmetic; those of other types are left to libm.

// CHECK-LABEL: func.func @of_f32(
// CHECK-NOT:     math.exp
// CHECK-NOT:     math.tanh
// CHECK-NOT:     math.erf
// CHECK:         return
func.func @of_f32(%x: f32, %y: f32) -> (f32, f32, f32) {
  %0 = math.exp %x : f32
  %1 = math.tanh %x : f32
  %2 = math.erf %y : f32
  return %0, %1, %2 : f32, f32, f32
}

// CHECK-LABEL: func.func @of_f64(
// CHECK-NEXT:    %[[E:.*]] = math.exp %arg0 : f64
// CHECK-NEXT:    return %[[E]]
func.func @of_f64(%x: f64) -> f64 {
  %0 = math.exp %x : f64
  return %0 : f64
}
