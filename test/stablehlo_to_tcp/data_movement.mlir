// RUN: tcp-opt %s -convert-stablehlo-to-tcp -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @constant(
// CHECK:         tcp.const {value = dense<[1, 2]> : tensor<2xi32>} : tensor<2xi32>
func.func @constant() -> tensor<2xi32> {
  %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  return %0 : tensor<2xi32>
}

// -----

// CHECK-LABEL: func.func @iota(
// CHECK:         tcp.iota() {dim = 1 : i64} : tensor<2x3xf32>
func.func @iota() -> tensor<2x3xf32> {
  %0 = stablehlo.iota dim = 1 : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// New dimensions are put in with size 1, and then stretched; those of size 1 are stretched too.

// CHECK-LABEL: func.func @broadcast(
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG:     %[[C5:.*]] = arith.constant 5 : index
// CHECK:         %[[EXPANDED:.*]] = tensor.expand_shape %arg0
// CHECK-SAME:      {{\[\[}}0, 1], [2, 3]] output_shape [1, 3, 1, 1]
// CHECK:         tcp.broadcast %[[EXPANDED]], %[[C2]], %[[C4]], %[[C5]] {axes = [0, 2, 3]}
func.func @broadcast(%x: tensor<3x1xf32>) -> tensor<2x3x4x5xf32> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [1, 2] : (tensor<3x1xf32>) -> tensor<2x3x4x5xf32>
  return %0 : tensor<2x3x4x5xf32>
}

// -----

// CHECK-LABEL: func.func @broadcast_scalar(
// CHECK:         tensor.expand_shape %arg0 [] output_shape [1]
// CHECK:         tcp.broadcast {{.*}} {axes = [0]} : tensor<1xf32>, index -> tensor<4xf32>
func.func @broadcast_scalar(%x: tensor<f32>) -> tensor<4xf32> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @parts(
// CHECK:         tcp.slice %arg0 starts({{.*}}) sizes({{.*}}) strides({{.*}}) : tensor<4x3xf32> -> tensor<2x2xf32>
// CHECK:         tcp.concat {{.*}} {dim = 1 : i64} : tensor<2x2xf32>, tensor<2x2xf32> -> tensor<2x4xf32>
// CHECK:         tcp.transpose {{.*}} {permutation = [1, 0]} : tensor<2x4xf32> -> tensor<4x2xf32>
// CHECK:         tcp.reverse {{.*}} {axes = [0, 1]}
func.func @parts(%x: tensor<4x3xf32>) -> tensor<4x2xf32> {
  %0 = stablehlo.slice %x [1:3:1, 0:3:2] : (tensor<4x3xf32>) -> tensor<2x2xf32>
  %1 = stablehlo.concatenate %0, %0, dim = 1 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x4xf32>
  %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>
  %3 = stablehlo.reverse %2, dims = [1, 0] : tensor<4x2xf32>
  return %3 : tensor<4x2xf32>
}

// -----

// CHECK-LABEL: func.func @reshape(
// CHECK:         %[[FLAT:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0, 1]] : tensor<2x6xf32> into tensor<12xf32>
// CHECK:         tensor.expand_shape %[[FLAT]] {{\[\[}}0, 1]] output_shape [3, 4] : tensor<12xf32> into tensor<3x4xf32>
func.func @reshape(%x: tensor<2x6xf32>) -> tensor<3x4xf32> {
  %0 = stablehlo.reshape %x : (tensor<2x6xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// -----

// What TCP cannot express stays.

// CHECK-LABEL: func.func @stays(
// CHECK:         stablehlo.add {{.*}} : tensor<2xcomplex<f32>>
// CHECK:         stablehlo.add {{.*}} : tensor<2xui8>
// CHECK:         stablehlo.broadcast_in_dim {{.*}}, dims = [1, 0]
func.func @stays(%x: tensor<2x3xf32>, %y: tensor<2xcomplex<f32>>, %z: tensor<2xui8>) -> (tensor<3x2xf32>, tensor<2xcomplex<f32>>, tensor<2xui8>) {
  %0 = stablehlo.add %y, %y : tensor<2xcomplex<f32>>
  %1 = stablehlo.add %z, %z : tensor<2xui8>
  %2 = stablehlo.broadcast_in_dim %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %2, %0, %1 : tensor<3x2xf32>, tensor<2xcomplex<f32>>, tensor<2xui8>
}
