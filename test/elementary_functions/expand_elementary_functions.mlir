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
