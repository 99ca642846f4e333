// RUN: tcp-opt %s -tcp-resolve-sizes | FileCheck %s

// A size is read from the first argument with its symbol, whatever it has come through.

// CHECK-LABEL: func.func @resolved(
// CHECK-SAME:      %[[X:[^:]*]]: tensor<?x3x?xf32>, %[[Y:[^:]*]]: tensor<?x?xf32>)
// CHECK:         %[[C0:.*]] = arith.constant 0 : index
// CHECK:         %[[N:.*]] = tensor.dim %[[X]], %[[C0]]
// CHECK:         %[[C2:.*]] = arith.constant 2 : index
// CHECK:         %[[M:.*]] = tensor.dim %[[X]], %[[C2]]
// CHECK:         %[[OTHER:.*]] = tensor.dim %[[Y]], %{{.*}}
// CHECK:         return %[[N]], %[[M]], %[[OTHER]]
func.func @resolved(%x: tensor<?x3x?xf32>, %y: tensor<?x?xf32>) -> (index, index, index) {
  %n = tcp.symbolic_int "n" {min_val = 0, max_val = 100} : i64
  %m = tcp.symbolic_int "m" {min_val = 0, max_val = 100} : i64
  tcp.bind_symbolic_shape %x, [%m, %n], affine_map<()[s0, s1] -> (s1, 3, s0)> : tensor<?x3x?xf32>
  tcp.bind_symbolic_shape %y, [%m, %n], affine_map<()[s0, s1] -> (s0, s1 * 2)> : tensor<?x?xf32>
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %0 = tcp.reduce %x {axes = [2], combiner = #tcp<combiner max>} : tensor<?x3x?xf32> -> tensor<?x3xf32>
  %1 = tcp.transpose %0 {permutation = [1, 0]} : tensor<?x3xf32> -> tensor<3x?xf32>
  %2 = tcp.neg %1 : tensor<3x?xf32> -> tensor<3x?xf32>
  %first = tensor.dim %2, %one : tensor<3x?xf32>
  %second = tensor.dim %y, %zero : tensor<?x?xf32>
  %third = tensor.dim %y, %one : tensor<?x?xf32>
  return %first, %second, %third : index, index, index
}
