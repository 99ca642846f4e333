// RUN: tcp-opt %s -convert-tcp-to-linalg -canonicalize -cse -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @iota(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel"]
// CHECK:         linalg.index
// CHECK:         arith.index_cast
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @iota() -> tensor<5xi64> {
  %0 = tcp.iota() {dim = 0 : index} : tensor<5xi64>
  return %0 : tensor<5xi64>
}

// -----

// CHECK-LABEL: func.func @iota_2(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         linalg.index
// CHECK:         arith.index_cast
// CHECK:         arith.sitofp
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @iota_2(%arg0: index) -> tensor<5x?xf32> {
  %0 = tcp.iota(%arg0) {dim = 1 : index} : tensor<5x?xf32>
  return %0 : tensor<5x?xf32>
}

// -----

// CHECK-LABEL: func.func @broadcast(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @broadcast(%arg0: index, %arg1: tensor<1x?xf32>) -> tensor<?x?xf32> {
  %0 = tcp.broadcast %arg1, %arg0 {axes = [0]} : tensor<1x?xf32>, index -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// CHECK-LABEL: func.func @broadcast_2(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @broadcast_2(%arg0: index, %arg1: tensor<1x?xf32>) -> tensor<4x7xf32> {
  %0 = tcp.broadcast %arg1, %arg0 {axes = [0]} : tensor<1x?xf32>, index -> tensor<4x7xf32>
  return %0 : tensor<4x7xf32>
}

// -----

// CHECK-LABEL: func.func @broadcast_3(

// CHECK-NOT:     tcp.
// CHECK:         return
func.func @broadcast_3(%arg0: tensor<f32>) -> tensor<f32> {
  %0 = tcp.broadcast %arg0 {axes = []} : tensor<f32> -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @transpose(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel"]
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @transpose(%arg0: tensor<4x2x3xf32>) -> tensor<3x4x2xf32> {
  %0 = tcp.transpose %arg0 {permutation = [2, 0, 1]} : tensor<4x2x3xf32> -> tensor<3x4x2xf32>
  return %0 : tensor<3x4x2xf32>
}

// -----

// CHECK-LABEL: func.func @transpose_2(

// CHECK-NOT:     tcp.
// CHECK:         return
func.func @transpose_2(%arg0: tensor<f32>) -> tensor<f32> {
  %0 = tcp.transpose %arg0 {permutation = []} : tensor<f32> -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// Read from the end, as a place by the loops, so that a kernel reads it where it needs it.
// CHECK:       #map = affine_map<(d0, d1, d2) -> (-d0 + 3, d1, -d2 + 2)>
// CHECK-LABEL: func.func @reverse(
// CHECK-SAME:      %[[ARG:.*]]: tensor<4x2x3xf32>
// CHECK:         linalg.generic {indexing_maps = [#map, #map1], {{.*}}} ins(%[[ARG]]
// CHECK-NEXT:    ^bb0(%[[ELEMENT:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:      linalg.yield %[[ELEMENT]]
// CHECK:         return
func.func @reverse(%arg0: tensor<4x2x3xf32>) -> tensor<4x2x3xf32> {
  %0 = tcp.reverse %arg0 {axes = [0, 2]} : tensor<4x2x3xf32> -> tensor<4x2x3xf32>
  return %0 : tensor<4x2x3xf32>
}

// -----

// CHECK-LABEL: func.func @reverse_of_any_size(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         linalg.index
// CHECK:         linalg.index
// CHECK:         arith.subi
// CHECK:         tensor.extract
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @reverse_of_any_size(%arg0: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %0 = tcp.reverse %arg0 {axes = [1]} : tensor<4x?xf32> -> tensor<4x?xf32>
  return %0 : tensor<4x?xf32>
}

