// RUN: tcp-opt %s | FileCheck %s
// RUN: tcp-opt %s -mlir-print-op-generic | tcp-opt | FileCheck %s

// CHECK-LABEL: func.func @conv_1d_in_groups(
func.func @conv_1d_in_groups(%arg0: tensor<1x6x8xf32>, %arg1: tensor<4x3x3xf32>) {
  // CHECK-NEXT: %0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 2 : i64, padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf32>
  %0 = tcp.conv %arg0, %arg1 {dilations = [1], groups = 2 : i64, padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<4x3x3xf32> -> tensor<1x4x4xf32>
  return
}

// CHECK-LABEL: func.func @conv_2d_dynamic(
func.func @conv_2d_dynamic(%arg0: tensor<?x3x?x9xf16>, %arg1: tensor<8x3x3x3xf16>) {
  // CHECK-NEXT: %0 = tcp.conv %arg0, %arg1 {dilations = [2, 1], groups = 1 : i64, padding_high = [0, 1], padding_low = [0, 1], strides = [1, 1]} : tensor<?x3x?x9xf16>, tensor<8x3x3x3xf16> -> tensor<?x8x?x9xf16>
  %0 = tcp.conv %arg0, %arg1 {dilations = [2, 1], groups = 1 : i64, padding_high = [0, 1], padding_low = [0, 1], strides = [1, 1]} : tensor<?x3x?x9xf16>, tensor<8x3x3x3xf16> -> tensor<?x8x?x9xf16>
  return
}

// CHECK-LABEL: func.func @conv_transpose(
func.func @conv_transpose(%arg0: tensor<1x6x8xf32>, %arg1: tensor<6x2x3xf32>) {
  // CHECK-NEXT: %0 = tcp.conv_transpose %arg0, %arg1 {dilations = [1], groups = 2 : i64, output_padding = [1], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<6x2x3xf32> -> tensor<1x4x16xf32>
  %0 = tcp.conv_transpose %arg0, %arg1 {dilations = [1], groups = 2 : i64, output_padding = [1], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32>, tensor<6x2x3xf32> -> tensor<1x4x16xf32>
  return
}
