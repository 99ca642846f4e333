// RUN: tcp-opt %s -convert-stablehlo-to-tcp | FileCheck %s
// RUN: tcp-opt %s -stablehlo-to-tcp-pipeline -tcp-to-linalg-pipeline | FileCheck %s --check-prefix=SINGLE

// Two elements are in order unless the second has to come first. Rows are along the last dimension.

// CHECK-LABEL: func.func @rising(
// CHECK:         tm_tensor.sort dimension(1) outs(%{{.*}} : tensor<2x5xf32>)
// CHECK:         ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
// CHECK-DAG:       %[[LEFT:.*]] = tensor.from_elements %[[A]] : tensor<f32>
// CHECK-DAG:       %[[RIGHT:.*]] = tensor.from_elements %[[B]] : tensor<f32>
// CHECK:           %[[LESS:.*]] = tcp.compare %[[RIGHT]], %[[LEFT]] {predicate = #tcp<predicate lt>}
// CHECK:           %[[ONE:.*]] = tensor.extract %[[LESS]][] : tensor<i1>
// CHECK:           %[[MAY:.*]] = arith.xori %[[ONE]], %{{.*}} : i1
// CHECK:           tm_tensor.yield %[[MAY]] : i1

// Of single elements, no tensors are made.

// SINGLE-LABEL: func.func @rising(
// SINGLE:         ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
// SINGLE-NEXT:      %[[LESS:.*]] = arith.cmpf olt, %[[B]], %[[A]] : f32
// SINGLE-NEXT:      %[[MAY:.*]] = arith.xori %[[LESS]], %{{.*}} : i1
// SINGLE-NEXT:      tm_tensor.yield %[[MAY]] : i1
func.func @rising(%x: tensor<2x5xf32>) -> (tensor<2x5xf32>) {
  %0 = "stablehlo.sort"(%x) <{dimension = -1 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
  }) : (tensor<2x5xf32>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}
