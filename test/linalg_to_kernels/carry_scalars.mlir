// RUN: tcp-opt %s -carry-scalars -canonicalize -split-input-file | FileCheck %s

// The number is what both regions of a loop hand on; tensors of other ranks stay.
// CHECK-LABEL: func.func @until(
// CHECK-SAME:      %[[X:.*]]: tensor<f32>, %[[Y:.*]]: tensor<1xf32>)
// CHECK:         %[[FIRST:.*]] = tensor.extract %[[X]][] : tensor<f32>
// CHECK:         %[[RESULT:.*]]:2 = scf.while (%[[A:.*]] = %[[FIRST]], %[[B:.*]] = %[[Y]]) : (f32, tensor<1xf32>) -> (f32, tensor<1xf32>)
// CHECK:           arith.cmpf olt, %[[A]]
// CHECK:           scf.condition(%{{.*}}) %[[A]], %[[B]] : f32, tensor<1xf32>
// CHECK:         ^bb0(%[[A:.*]]: f32, %{{.*}}: tensor<1xf32>):
// CHECK:           %[[NEXT:.*]] = arith.addf %[[A]], %[[A]]
// CHECK:           scf.yield %[[NEXT]], %{{.*}} : f32, tensor<1xf32>
// CHECK:         %[[LAST:.*]] = tensor.from_elements %[[RESULT]]#0 : tensor<f32>
// CHECK:         return %[[LAST]], %[[RESULT]]#1
func.func @until(%x: tensor<f32>, %y: tensor<1xf32>) -> (tensor<f32>, tensor<1xf32>) {
  %c0 = arith.constant 0 : index
  %limit = arith.constant 9.0 : f32
  %result:2 = scf.while (%a = %x, %b = %y) : (tensor<f32>, tensor<1xf32>) -> (tensor<f32>, tensor<1xf32>) {
    %number = tensor.extract %a[] : tensor<f32>
    %less = arith.cmpf olt, %number, %limit : f32
    scf.condition(%less) %a, %b : tensor<f32>, tensor<1xf32>
  } do {
  ^bb0(%a: tensor<f32>, %b: tensor<1xf32>):
    %number = tensor.extract %a[] : tensor<f32>
    %sum = arith.addf %number, %number : f32
    %next = tensor.from_elements %sum : tensor<f32>
    %other = tensor.insert %sum into %b[%c0] : tensor<1xf32>
    scf.yield %next, %other : tensor<f32>, tensor<1xf32>
  }
  return %result#0, %result#1 : tensor<f32>, tensor<1xf32>
}

// -----

// In a loop within a loop, too.
// CHECK-LABEL: func.func @nested(
// CHECK:         scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[A:.*]] = %{{.*}}) -> (i64) {
// CHECK:           %[[INNER:.*]] = scf.for %{{.*}} iter_args(%[[B:.*]] = %[[A]]) -> (i64) {
// CHECK:             %[[NEXT:.*]] = arith.muli %[[B]], %[[B]]
// CHECK:             scf.yield %[[NEXT]] : i64
// CHECK:           scf.yield %[[INNER]] : i64
func.func @nested(%x: tensor<i64>, %n: index) -> tensor<i64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %outer = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<i64>) {
    %inner = scf.for %j = %c0 to %n step %c1 iter_args(%b = %a) -> (tensor<i64>) {
      %number = tensor.extract %b[] : tensor<i64>
      %square = arith.muli %number, %number : i64
      %next = tensor.from_elements %square : tensor<i64>
      scf.yield %next : tensor<i64>
    }
    scf.yield %inner : tensor<i64>
  }
  return %outer : tensor<i64>
}
