// RUN: tcp-opt %s -convert-tcp-to-tensor -split-input-file | FileCheck %s

// Sizes follow the result's type; starts and strides that are constant become static.

// CHECK-LABEL: func.func @slice(
// CHECK-SAME:      %[[X:.*]]: tensor<?x8xf32>, %[[START:.*]]: index, %[[SIZE:.*]]: index)
// CHECK:         %[[SLICE:.*]] = tensor.extract_slice %[[X]][%[[START]], 1] [%[[SIZE]], 3] [1, 2]
// CHECK-SAME:      : tensor<?x8xf32> to tensor<?x3xf32>
// CHECK:         return %[[SLICE]]
func.func @slice(%x: tensor<?x8xf32>, %start: index, %size: index) -> tensor<?x3xf32> {
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %0 = tcp.slice %x starts(%start, %one) sizes(%size, %three) strides(%one, %two) : tensor<?x8xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @concat(
// CHECK:         tensor.concat dim(1) %arg0, %arg1
// CHECK-SAME:      (tensor<?x2xi8>, tensor<?x3xi8>) -> tensor<?x5xi8>
func.func @concat(%a: tensor<?x2xi8>, %b: tensor<?x3xi8>) -> tensor<?x5xi8> {
  %0 = tcp.concat %a, %b {dim = 1 : i64} : tensor<?x2xi8>, tensor<?x3xi8> -> tensor<?x5xi8>
  return %0 : tensor<?x5xi8>
}

// -----

// CHECK-LABEL: func.func @pad(
// CHECK-SAME:      %[[X:.*]]: tensor<?x2xf32>, %[[VALUE:.*]]: tensor<f32>, %[[LOW:.*]]: index)
// CHECK:         %[[ELEMENT:.*]] = tensor.extract %[[VALUE]][] : tensor<f32>
// CHECK:         %[[PADDED:.*]] = tensor.pad %[[X]] low[%[[LOW]], 0] high[0, 1]
// CHECK:           tensor.yield %[[ELEMENT]] : f32
// CHECK:         } : tensor<?x2xf32> to tensor<?x3xf32>
// CHECK:         return %[[PADDED]]
func.func @pad(%x: tensor<?x2xf32>, %value: tensor<f32>, %low: index) -> tensor<?x3xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %0 = tcp.pad %x, %value low(%low, %zero) high(%zero, %one) : tensor<?x2xf32>, tensor<f32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}
