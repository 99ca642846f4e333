// RUN: tcp-opt %s -convert-tcp-to-linalg -canonicalize -cse -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @pool(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel"]
// CHECK:         tensor.pad
// CHECK:         tensor.yield
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction", "parallel"]
// CHECK:         arith.maximumf
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @pool(%arg0: tensor<1x6x8xf32>) -> tensor<1x6x4xf32> {
  %0 = tcp.pool %arg0 {combiner = #tcp<combiner max>, dilations = [1], kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xf32>
  return %0 : tensor<1x6x4xf32>
}

// -----

// CHECK-LABEL: func.func @pool_2(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel"]
// CHECK:         tensor.pad
// CHECK:         tensor.yield
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "reduction", "parallel", "parallel"]
// CHECK:         arith.addf
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @pool_2(%arg0: tensor<1x6x8xf32>) -> tensor<1x3x4xf32> {
  %0 = tcp.pool %arg0 {accumulation_type = f32, combiner = #tcp<combiner sum>, dilations = [1, 1], kernel = [2, 3], padding_high = [0, 1], padding_low = [0, 1], strides = [2, 2]} : tensor<1x6x8xf32> -> tensor<1x3x4xf32>
  return %0 : tensor<1x3x4xf32>
}

// -----

// CHECK-LABEL: func.func @pool_3(
// CHECK:         arith.addi
// CHECK:         arith.floordivsi
// CHECK:         arith.addi
// CHECK:         arith.maxsi
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         tensor.pad
// CHECK:         tensor.yield
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel"]
// CHECK:         arith.maxui
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @pool_3(%arg0: tensor<?x?xi8>) -> tensor<?x?xi8> {
  %0 = tcp.pool %arg0 {combiner = #tcp<combiner max>, dilations = [1], int_signedness = #tcp<signedness Unsigned>, kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<?x?xi8> -> tensor<?x?xi8>
  return %0 : tensor<?x?xi8>
}

// -----

// CHECK-LABEL: func.func @argmax_pool(
// CHECK-SAME:      %[[INPUT:.*]]: tensor
// CHECK-DAG:     %[[LEAST:.*]] = arith.constant 0xFF800000 : f32
// CHECK-DAG:     %[[NONE:.*]] = arith.constant -1 : i32
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel"]
// CHECK:         linalg.yield %[[LEAST]]
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel"]
// CHECK:         linalg.yield %[[NONE]]
// CHECK:         %[[PADDED:.*]] = tensor.pad %[[INPUT]]
// CHECK:         tensor.yield %[[LEAST]]
// CHECK:         %[[BEST:.*]]:2 = linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%[[PADDED]],
// CHECK:         ^bb0(%[[IN:.*]]: f32, %{{.*}}: f32, %[[SO_FAR:.*]]: f32, %[[PLACE:.*]]: i32):
// CHECK-DAG:     %[[GREATER:.*]] = arith.cmpf ogt, %[[IN]], %[[SO_FAR]]
// CHECK-DAG:     %[[NAN:.*]] = arith.cmpf uno, %[[IN]], %[[IN]]
// CHECK:         %[[WINS:.*]] = arith.ori %[[GREATER]], %[[NAN]]
// CHECK:         linalg.index 3
// CHECK:         linalg.index 2
// CHECK:         arith.select %[[WINS]], %[[IN]], %[[SO_FAR]]
// CHECK:         arith.select %[[WINS]], %{{.*}}, %[[PLACE]]
// The first place of a window that has nothing else.
// CHECK:         linalg.generic {{.*}} ins(%[[BEST]]#1
// CHECK:         ^bb0(%[[FOUND:.*]]: i32,
// CHECK:         %[[IS_NONE:.*]] = arith.cmpi slt, %[[FOUND]], %{{.*}} : i32
// CHECK:         arith.maxsi
// CHECK:         arith.select %[[IS_NONE]], %{{.*}}, %[[FOUND]]
// CHECK:         arith.extsi
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @argmax_pool(%arg0: tensor<1x6x8xf32>) -> tensor<1x6x4xi64> {
  %0 = tcp.argmax_pool %arg0 {dilations = [1], kernel = [3], padding_high = [1], padding_low = [1], strides = [2]} : tensor<1x6x8xf32> -> tensor<1x6x4xi64>
  return %0 : tensor<1x6x4xi64>
}
