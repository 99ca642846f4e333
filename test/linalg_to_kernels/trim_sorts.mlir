// RUN: tcp-opt %s -trim-sorts -canonicalize -split-input-file | FileCheck %s

#whole = affine_map<(d0, d1) -> (d0, d1)>

// The places of elements are counted by the sort, of which nothing is read where they would be.
// CHECK-LABEL: func.func @places(
// CHECK-SAME:      %[[X:.*]]: tensor<3x?xf32>
// CHECK-NOT:     linalg.generic
// CHECK:         %[[PLACES:.*]] = tensor.empty(%{{.*}}) : tensor<3x?xi64>
// CHECK:         tm_tensor.sort {plumbline.counted = array<i64: 1>} dimension(1) outs(%[[X]], %[[PLACES]] :
// CHECK-NEXT:    ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: i64, %{{.*}}: i64):
// CHECK-NEXT:      arith.cmpf ole, %[[A]], %[[B]]
func.func @places(%x: tensor<3x?xf32>, %size: index) -> (tensor<3x?xf32>, tensor<3x?xi64>) {
  %empty = tensor.empty(%size) : tensor<3x?xi64>
  %places = linalg.generic {indexing_maps = [#whole], iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<3x?xi64>) {
  ^bb0(%out: i64):
    %at = linalg.index 1 : index
    %number = arith.index_cast %at : index to i64
    linalg.yield %number : i64
  } -> tensor<3x?xi64>
  %sorted:2 = tm_tensor.sort dimension(1) outs(%x, %places : tensor<3x?xf32>, tensor<3x?xi64>) {
  ^bb0(%a: f32, %b: f32, %of_a: i64, %of_b: i64):
    %0 = arith.cmpf ole, %a, %b : f32
    tm_tensor.yield %0 : i1
  } -> tensor<3x?xf32>, tensor<3x?xi64>
  return %sorted#0, %sorted#1 : tensor<3x?xf32>, tensor<3x?xi64>
}

// -----

#whole = affine_map<(d0, d1) -> (d0, d1)>

// Places along another axis than rows are numbers as others.
// CHECK-LABEL: func.func @across(
// CHECK:         %[[PLACES:.*]] = linalg.generic
// CHECK:         tm_tensor.sort dimension(1) outs(%{{.*}}, %[[PLACES]] :
func.func @across(%x: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xi64>) {
  %empty = tensor.empty() : tensor<3x4xi64>
  %places = linalg.generic {indexing_maps = [#whole], iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<3x4xi64>) {
  ^bb0(%out: i64):
    %at = linalg.index 0 : index
    %number = arith.index_cast %at : index to i64
    linalg.yield %number : i64
  } -> tensor<3x4xi64>
  %sorted:2 = tm_tensor.sort dimension(1) outs(%x, %places : tensor<3x4xf32>, tensor<3x4xi64>) {
  ^bb0(%a: f32, %b: f32, %of_a: i64, %of_b: i64):
    %0 = arith.cmpf ole, %a, %b : f32
    tm_tensor.yield %0 : i1
  } -> tensor<3x4xf32>, tensor<3x4xi64>
  return %sorted#0, %sorted#1 : tensor<3x4xf32>, tensor<3x4xi64>
}

// -----

// What nobody reads is not sorted along, but for what is compared.
// CHECK-LABEL: func.func @unread(
// CHECK-SAME:      %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xi64>)
// CHECK:         %[[VALUES:.*]] = tm_tensor.sort dimension(0) outs(%[[X]] : tensor<4xf32>) {
// CHECK-NEXT:    ^bb0(%{{.*}}: f32, %{{.*}}: f32):
// CHECK:         %[[BOTH:.*]]:2 = tm_tensor.sort dimension(0) outs(%[[X]], %[[Y]] :
// CHECK:         return %[[VALUES]], %[[BOTH]]#1
func.func @unread(%x: tensor<4xf32>, %y: tensor<4xi64>) -> (tensor<4xf32>, tensor<4xi64>) {
  %first:2 = tm_tensor.sort dimension(0) outs(%x, %y : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%a: f32, %b: f32, %of_a: i64, %of_b: i64):
    %0 = arith.cmpf ole, %a, %b : f32
    tm_tensor.yield %0 : i1
  } -> tensor<4xf32>, tensor<4xi64>
  %second:2 = tm_tensor.sort dimension(0) outs(%x, %y : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%a: f32, %b: f32, %of_a: i64, %of_b: i64):
    %0 = arith.cmpf ole, %a, %b : f32
    tm_tensor.yield %0 : i1
  } -> tensor<4xf32>, tensor<4xi64>
  return %first#0, %second#1 : tensor<4xf32>, tensor<4xi64>
}
