// RUN: tcp-opt %s | FileCheck %s
// RUN: tcp-opt %s -mlir-print-op-generic | tcp-opt | FileCheck %s

// CHECK-LABEL: func.func @pool_maximum(
func.func @pool_maximum(%arg0: tensor<1x6x8xf32>) {
  // CHECK-NEXT: %0 = tcp.pool %arg0 {combiner = #tcp<combiner max>, dilations = [1], kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xf32>
  %0 = tcp.pool %arg0 {combiner = #tcp<combiner max>, dilations = [1], kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xf32>
  return
}

// CHECK-LABEL: func.func @pool_sum(
func.func @pool_sum(%arg0: tensor<1x6x8xf32>) {
  // CHECK-NEXT: %0 = tcp.pool %arg0 {accumulation_type = f32, combiner = #tcp<combiner sum>, dilations = [1, 1], kernel = [2, 3], padding_high = [0, 1], padding_low = [0, 1], strides = [2, 2]} : tensor<1x6x8xf32> -> tensor<1x3x4xf32>
  %0 = tcp.pool %arg0 {accumulation_type = f32, combiner = #tcp<combiner sum>, dilations = [1, 1], kernel = [2, 3], padding_high = [0, 1], padding_low = [0, 1], strides = [2, 2]} : tensor<1x6x8xf32> -> tensor<1x3x4xf32>
  return
}

// CHECK-LABEL: func.func @pool_unsigned_maximum(
func.func @pool_unsigned_maximum(%arg0: tensor<?x?xi8>) {
  // CHECK-NEXT: %0 = tcp.pool %arg0 {combiner = #tcp<combiner max>, dilations = [1], int_signedness = #tcp<signedness Unsigned>, kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<?x?xi8> -> tensor<?x?xi8>
  %0 = tcp.pool %arg0 {combiner = #tcp<combiner max>, dilations = [1], int_signedness = #tcp<signedness Unsigned>, kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<?x?xi8> -> tensor<?x?xi8>
  return
}

// CHECK-LABEL: func.func @argmax_pool(
func.func @argmax_pool(%arg0: tensor<1x6x8xf32>) {
  // CHECK-NEXT: %0 = tcp.argmax_pool %arg0 {dilations = [1], kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xi64>
  %0 = tcp.argmax_pool %arg0 {dilations = [1], kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xi64>
  return
}
