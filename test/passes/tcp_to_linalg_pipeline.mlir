// RUN: tcp-opt %s -tcp-to-linalg-pipeline -split-input-file -verify-diagnostics | FileCheck %s

// Groups, symbolic sizes and constants are gone as well, into the dialect that each fits.

// CHECK-LABEL: func.func @all_rooms(
// CHECK-SAME:      %[[X:.*]]: tensor<?x4xf32> {plumbline.shape = affine_map<()[s0] -> (s0, 4)>}, %[[SIZE:.*]]: index)
// CHECK-SAME:      plumbline.symbols = [{max_val = 9 : i64, min_val = 2 : i64, name = "s0"}]
// CHECK-DAG:     %[[WEIGHTS:.*]] = arith.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK-DAG:     %[[SLICE:.*]] = tensor.extract_slice %[[X]][0, 1] [%[[SIZE]], 2] [1, 1]
// CHECK:         linalg.generic {{.*}} ins(%[[SLICE]] : tensor<?x2xf32>)
// CHECK:           math.tanh
// CHECK-NOT:     tcp.
// CHECK:         return %{{.*}}, %[[WEIGHTS]]
func.func @all_rooms(%x: tensor<?x4xf32>, %size: index) -> (tensor<?x2xf32>, tensor<2xf32>) {
  %s = tcp.symbolic_int "s0" {min_val = 2, max_val = 9} : i64
  tcp.bind_symbolic_shape %x, [%s], affine_map<()[s0] -> (s0, 4)> : tensor<?x4xf32>
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %weights = tcp.const {value = dense<[1.0, 2.0]> : tensor<2xf32>} : tensor<2xf32>
  %0 = tcp.slice %x starts(%zero, %one) sizes(%size, %two) strides(%one, %one) : tensor<?x4xf32> -> tensor<?x2xf32>
  %1 = tcp.group {
    %2 = tcp.tanh %0 : tensor<?x2xf32> -> tensor<?x2xf32>
    tcp.yield %2 : tensor<?x2xf32>
  } : tensor<?x2xf32>
  return %1, %weights : tensor<?x2xf32>, tensor<2xf32>
}

// -----

func.func @custom(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{'tcp.custom_op' op has no lowering to linalg}}
  %0 = tcp.custom_op("mine") %x : tensor<2xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
