// RUN: tcp-opt %s | FileCheck %s
// RUN: tcp-opt %s -mlir-print-op-generic | tcp-opt | FileCheck %s

// CHECK-LABEL: func.func @const(
func.func @const() {
  // CHECK-NEXT: %0 = tcp.const {value = dense<[1, 2]> : tensor<2xi64>} : tensor<2xi64>
  %0 = tcp.const {value = dense<[1, 2]> : tensor<2xi64>} : tensor<2xi64>
  return
}

// CHECK-LABEL: func.func @const_splat(
func.func @const_splat() {
  // CHECK-NEXT: %0 = tcp.const {value = dense<1.000000e+00> : tensor<2x2xf32>} : tensor<2x2xf32>
  %0 = tcp.const {value = dense<1.000000e+00> : tensor<2x2xf32>} : tensor<2x2xf32>
  return
}

// CHECK-LABEL: func.func @const_bool(
func.func @const_bool() {
  // CHECK-NEXT: %0 = tcp.const {value = dense<true> : tensor<i1>} : tensor<i1>
  %0 = tcp.const {value = dense<true> : tensor<i1>} : tensor<i1>
  return
}

// CHECK-LABEL: func.func @const_empty(
func.func @const_empty() {
  // CHECK-NEXT: %0 = tcp.const {value = dense<> : tensor<0xf32>} : tensor<0xf32>
  %0 = tcp.const {value = dense<> : tensor<0xf32>} : tensor<0xf32>
  return
}

// CHECK-LABEL: func.func @iota(
func.func @iota() {
  // CHECK-NEXT: %0 = tcp.iota() {dim = 0 : index} : tensor<5xi64>
  %0 = tcp.iota() {dim = 0 : index} : tensor<5xi64>
  return
}

// CHECK-LABEL: func.func @iota_dynamic(
func.func @iota_dynamic(%arg0: index) {
  // CHECK-NEXT: %0 = tcp.iota(%arg0) {dim = 1 : index} : tensor<5x?xf32>
  %0 = tcp.iota(%arg0) {dim = 1 : index} : tensor<5x?xf32>
  return
}

// CHECK-LABEL: func.func @broadcast(
func.func @broadcast(%arg0: tensor<1x?xf32>, %arg1: index) {
  // CHECK-NEXT: %0 = tcp.broadcast %arg0, %arg1 {axes = [0]} : tensor<1x?xf32>, index -> tensor<?x?xf32>
  %0 = tcp.broadcast %arg0, %arg1 {axes = [0]} : tensor<1x?xf32>, index -> tensor<?x?xf32>
  return
}

// CHECK-LABEL: func.func @broadcast_to_static_sizes(
func.func @broadcast_to_static_sizes(%arg0: tensor<1x?xf32>, %arg1: index) {
  // CHECK-NEXT: %0 = tcp.broadcast %arg0, %arg1 {axes = [0]} : tensor<1x?xf32>, index -> tensor<4x7xf32>
  %0 = tcp.broadcast %arg0, %arg1 {axes = [0]} : tensor<1x?xf32>, index -> tensor<4x7xf32>
  return
}

// CHECK-LABEL: func.func @broadcast_scalar(
func.func @broadcast_scalar(%arg0: tensor<f32>) {
  // CHECK-NEXT: %0 = tcp.broadcast %arg0 {axes = []} : tensor<f32> -> tensor<f32>
  %0 = tcp.broadcast %arg0 {axes = []} : tensor<f32> -> tensor<f32>
  return
}

// CHECK-LABEL: func.func @slice(
func.func @slice(%arg0: tensor<?x?xf32>, %arg1: index, %arg2: index, %arg3: index, %arg4: index, %arg5: index, %arg6: index) {
  // CHECK-NEXT: %0 = tcp.slice %arg0 starts(%arg1, %arg2) sizes(%arg3, %arg4) strides(%arg5, %arg6) : tensor<?x?xf32> -> tensor<?x2xf32>
  %0 = tcp.slice %arg0 starts(%arg1, %arg2) sizes(%arg3, %arg4) strides(%arg5, %arg6) : tensor<?x?xf32> -> tensor<?x2xf32>
  return
}

// CHECK-LABEL: func.func @slice_scalar(
func.func @slice_scalar(%arg0: tensor<f32>) {
  // CHECK-NEXT: %0 = tcp.slice %arg0 starts() sizes() strides() : tensor<f32> -> tensor<f32>
  %0 = tcp.slice %arg0 starts() sizes() strides() : tensor<f32> -> tensor<f32>
  return
}

// CHECK-LABEL: func.func @pad(
func.func @pad(%arg0: tensor<2x3xf32>, %arg1: tensor<f32>, %arg2: index, %arg3: index, %arg4: index, %arg5: index) {
  // CHECK-NEXT: %0 = tcp.pad %arg0, %arg1 low(%arg2, %arg3) high(%arg4, %arg5) : tensor<2x3xf32>, tensor<f32> -> tensor<?x?xf32>
  %0 = tcp.pad %arg0, %arg1 low(%arg2, %arg3) high(%arg4, %arg5) : tensor<2x3xf32>, tensor<f32> -> tensor<?x?xf32>
  return
}

// CHECK-LABEL: func.func @concat(
func.func @concat(%arg0: tensor<2x3xf32>, %arg1: tensor<?x?xf32>, %arg2: tensor<?x3xf32>) {
  // CHECK-NEXT: %0 = tcp.concat %arg0, %arg1, %arg2 {dim = 0 : index} : tensor<2x3xf32>, tensor<?x?xf32>, tensor<?x3xf32> -> tensor<?x3xf32>
  %0 = tcp.concat %arg0, %arg1, %arg2 {dim = 0 : index} : tensor<2x3xf32>, tensor<?x?xf32>, tensor<?x3xf32> -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: func.func @concat_one_value_twice(
func.func @concat_one_value_twice(%arg0: tensor<2x3xf32>) {
  // CHECK-NEXT: %0 = tcp.concat %arg0, %arg0 {dim = 1 : index} : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x6xf32>
  %0 = tcp.concat %arg0, %arg0 {dim = 1 : index} : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x6xf32>
  return
}

// CHECK-LABEL: func.func @transpose(
func.func @transpose(%arg0: tensor<4x2x3xf32>) {
  // CHECK-NEXT: %0 = tcp.transpose %arg0 {permutation = [2, 0, 1]} : tensor<4x2x3xf32> -> tensor<3x4x2xf32>
  %0 = tcp.transpose %arg0 {permutation = [2, 0, 1]} : tensor<4x2x3xf32> -> tensor<3x4x2xf32>
  return
}

// CHECK-LABEL: func.func @transpose_scalar(
func.func @transpose_scalar(%arg0: tensor<f32>) {
  // CHECK-NEXT: %0 = tcp.transpose %arg0 {permutation = []} : tensor<f32> -> tensor<f32>
  %0 = tcp.transpose %arg0 {permutation = []} : tensor<f32> -> tensor<f32>
  return
}

// CHECK-LABEL: func.func @reverse(
func.func @reverse(%arg0: tensor<4x2x3xf32>) {
  // CHECK-NEXT: %0 = tcp.reverse %arg0 {axes = [0, 2]} : tensor<4x2x3xf32> -> tensor<4x2x3xf32>
  %0 = tcp.reverse %arg0 {axes = [0, 2]} : tensor<4x2x3xf32> -> tensor<4x2x3xf32>
  return
}
