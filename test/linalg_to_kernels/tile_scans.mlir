// RUN: tcp-opt %s -convert-tcp-to-linalg -tile-scans -canonicalize | FileCheck %s

// Columns are done by tiles, of which what was combined so far is a tensor of their width.
// CHECK-LABEL: func.func @down(
// CHECK-SAME:      %[[IN:.*]]: tensor<?x5000xf32>)
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C1024:.*]] = arith.constant 1024 : index
// CHECK-DAG:     %[[C5000:.*]] = arith.constant 5000 : index
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0.000000e+00 : f64
// CHECK-DAG:     %[[ROWS:.*]] = tensor.dim %[[IN]], %{{.*}}
// CHECK-DAG:     %[[SO_FAR:.*]] = tensor.empty() : tensor<1024xf64>
// CHECK:         scf.for %[[FIRST:.*]] = %{{.*}} to %[[C5000]] step %[[C1024]] iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %[[SO_FAR]])
// CHECK:           %[[LEFT:.*]] = arith.subi %[[C5000]], %[[FIRST]]
// CHECK:           %[[WIDTH:.*]] = arith.minsi %[[LEFT]], %[[C1024]]
// CHECK:           scf.for %{{.*}} = %{{.*}} to %[[WIDTH]]
// CHECK:             tensor.insert %[[ZERO]] into
// CHECK:           scf.for %[[ROW:.*]] = %{{.*}} to %[[ROWS]]
// CHECK:             scf.for %[[AT:.*]] = %{{.*}} to %[[WIDTH]] step %[[C1]] iter_args(%[[OUT:.*]] = %{{.*}}, %[[SUMS:.*]] = %{{.*}})
// CHECK:               %[[COLUMN:.*]] = arith.addi %[[FIRST]], %[[AT]]
// CHECK:               %[[ELEMENT:.*]] = tensor.extract %[[IN]][%[[ROW]], %[[COLUMN]]]
// CHECK:               %[[BEFORE:.*]] = tensor.extract %[[SUMS]][%[[AT]]]
// CHECK:               %[[WIDE:.*]] = arith.extf %[[ELEMENT]]
// CHECK:               %[[SUM:.*]] = arith.addf %[[BEFORE]], %[[WIDE]]
// CHECK:               %[[NARROW:.*]] = arith.truncf %[[SUM]]
// CHECK:               tensor.insert %[[NARROW]] into %[[OUT]][%[[ROW]], %[[COLUMN]]]
// CHECK:               tensor.insert %[[SUM]] into %[[SUMS]][%[[AT]]]
func.func @down(%0: tensor<?x5000xf32>) -> tensor<?x5000xf32> {
  %1 = tcp.scan %0 {accumulation_type = f64, combiner = #tcp<combiner sum>, dim = 0 : index} : tensor<?x5000xf32> -> tensor<?x5000xf32>
  return %1 : tensor<?x5000xf32>
}

// The last axis that is longer than 1 is contiguous; others are loops outside of it.
// CHECK-LABEL: func.func @across(
// CHECK:         scf.for %[[A:.*]] = %{{.*}} to %c2 step
// CHECK:           scf.for %[[C:.*]] = %{{.*}} to %c4 step
// CHECK:             scf.for %[[B:.*]] = %{{.*}} to %c3 step
// CHECK:               scf.for %[[AT:.*]] = %{{.*}} to %c8 step
// CHECK:                 tensor.extract %{{.*}}[%[[A]], %[[B]], %[[C]], %[[AT]], %{{.*}}]
func.func @across(%0: tensor<2x3x4x8x1xi32>) -> tensor<2x3x4x8x1xi32> {
  %1 = tcp.scan %0 {accumulation_type = i32, combiner = #tcp<combiner prod>, dim = 1 : index} : tensor<2x3x4x8x1xi32> -> tensor<2x3x4x8x1xi32>
  return %1 : tensor<2x3x4x8x1xi32>
}
