// RUN: tcp-opt %s -check-parts -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @slice(
// CHECK-SAME:      %[[X:.*]]: tensor<?x4xf32>, %[[FIRST:.*]]: index)
// CHECK:         %[[SIZE:.*]] = tensor.dim %[[X]],
// CHECK:         %[[LAST:.*]] = arith.addi %[[FIRST]], %{{.*}} : index
// CHECK:         arith.cmpi sge, %[[FIRST]],
// CHECK:         arith.cmpi slt, %[[LAST]], %[[SIZE]]
// CHECK:         call @plumbline_require({{.*}}check_parts.mlir:[[# @LINE + 3]]:8: error: places {} to {} are out of range for dimension 0 of size {}"
// CHECK-NEXT:    tensor.extract_slice
func.func @slice(%x: tensor<?x4xf32>, %first: index) -> tensor<3x2xf32> {
  %0 = tensor.extract_slice %x[%first, 1] [3, 2] [2, 1] : tensor<?x4xf32> to tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// -----

// Sizes that are computed fit, and what has no elements is nowhere.

// CHECK-LABEL: func.func @fits(
// CHECK-NOT:     plumbline_require
func.func @fits(%x: tensor<?xf32>, %size: index) -> (tensor<?xf32>, tensor<0xf32>) {
  %0 = tensor.extract_slice %x[0] [%size] [1] : tensor<?xf32> to tensor<?xf32>
  %1 = tensor.extract_slice %x[7] [0] [1] : tensor<?xf32> to tensor<0xf32>
  return %0, %1 : tensor<?xf32>, tensor<0xf32>
}

// -----

// CHECK-LABEL: func.func @topk(
// CHECK:         arith.cmpi sle
// CHECK:         call @plumbline_require({{.*}}{} elements are picked out of dimension 1 of size {}"
func.func @topk(%x: tensor<2x?xf32>, %values: tensor<2x3xf32>, %places: tensor<2x3xi32>) -> tensor<2x3xf32> {
  %0:2 = tm_tensor.topk dimension(1) ins(%x : tensor<2x?xf32>) outs(%values, %places : tensor<2x3xf32>, tensor<2x3xi32>) {
  ^bb0(%one: f32, %other: f32):
    %1 = arith.cmpf ogt, %one, %other : f32
    tm_tensor.yield %1 : i1
  } -> tensor<2x3xf32>, tensor<2x3xi32>
  return %0#0 : tensor<2x3xf32>
}
