// RUN: tcp-opt %s -convert-tcp-to-linalg -canonicalize -cse -split-input-file | FileCheck %s

// Rows, the dimension that is summed over, columns: the order in which the loops will run.
// CHECK-DAG: #[[LEFT:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[RIGHT:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[OUT:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>

// CHECK-LABEL: func.func @matmul(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         linalg.contract indexing_maps = [#[[LEFT]], #[[RIGHT]], #[[OUT]]] ins(%arg0, %arg1 :
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @matmul(%arg0: tensor<2x3xf32>, %arg1: tensor<3x?xf32>) -> tensor<2x?xf32> {
  %0 = tcp.matmul %arg0, %arg1 : tensor<2x3xf32>, tensor<3x?xf32> -> tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

// -----

// CHECK-LABEL: func.func @batch_matmul(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel"]
// CHECK:         tensor.cast
// CHECK:         linalg.contract {{.*}} outs({{.*}} : tensor<7x2x4xf32>)
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel"]
// CHECK:         arith.truncf
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @batch_matmul(%arg0: tensor<?x2x3xbf16>, %arg1: tensor<7x3x4xbf16>) -> tensor<7x2x4xbf16> {
  %0 = tcp.batch_matmul %arg0, %arg1 : tensor<?x2x3xbf16>, tensor<7x3x4xbf16> -> tensor<7x2x4xbf16>
  return %0 : tensor<7x2x4xbf16>
}
