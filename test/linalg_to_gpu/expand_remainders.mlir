// RUN: tcp-opt %s -expand-remainders | FileCheck %s

// Eleven bits at a time, as 53 are a fraction's.
// CHECK-LABEL: func.func @one(
// CHECK-NOT:     arith.remf
// CHECK-DAG:     %[[BITS:.*]] = arith.constant 11 : i64
// CHECK:         arith.remui %{{.*}} : i64
// CHECK:         scf.while
// CHECK:           scf.condition
// CHECK:           %[[TAKEN:.*]] = arith.minsi %{{.*}}, %[[BITS]] : i64
// CHECK:           %[[MORE:.*]] = arith.shli %{{.*}}, %[[TAKEN]] : i64
// CHECK:           arith.remui %[[MORE]], %{{.*}} : i64
// CHECK:         math.copysign
func.func @one(%x: f64, %y: f64) -> f64 {
  %r = arith.remf %x, %y : f64
  return %r : f64
}

// Half precision is computed in f32; of a vector each element by itself.
// CHECK-LABEL: func.func @many(
// CHECK-NOT:     arith.remf
// CHECK:         arith.extf %{{.*}} : f16 to f32
// CHECK-COUNT-2: scf.while
// CHECK:         vector.from_elements
func.func @many(%x: vector<2xf16>, %y: vector<2xf16>) -> vector<2xf16> {
  %r = arith.remf %x, %y : vector<2xf16>
  return %r : vector<2xf16>
}
