// RUN: tcp-opt %s -separate-destinations | FileCheck %s

// Two tensors that are put together of parts in each round, and lie apart.
// CHECK-LABEL: func.func @in_a_loop(
// CHECK:         scf.for
// CHECK:           %[[FIRST:.*]] = tensor.empty() : tensor<4x8xf32>
// CHECK:           %[[UPPER:.*]] = tensor.insert_slice %{{.*}} into %[[FIRST]][0, 0]
// CHECK:           %[[BOTH:.*]] = tensor.insert_slice %{{.*}} into %[[UPPER]][2, 0]
// CHECK:           %[[SECOND:.*]] = tensor.empty() : tensor<4x8xf32>
// CHECK:           tensor.insert_slice %[[BOTH]] into %[[SECOND]][0, 0]
func.func @in_a_loop(%x: tensor<2x8xf32>, %start: tensor<4x8xf32>, %count: index) -> tensor<4x8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %empty = tensor.empty() : tensor<4x8xf32>
  %0 = scf.for %i = %zero to %count step %one iter_args(%before = %start) -> (tensor<4x8xf32>) {
    %upper = tensor.insert_slice %x into %empty[0, 0] [2, 8] [1, 1] : tensor<2x8xf32> into tensor<4x8xf32>
    %both = tensor.insert_slice %x into %upper[2, 0] [2, 8] [1, 1] : tensor<2x8xf32> into tensor<4x8xf32>
    %again = tensor.insert_slice %both into %empty[0, 0] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<4x8xf32>
    scf.yield %again : tensor<4x8xf32>
  }
  return %0 : tensor<4x8xf32>
}
