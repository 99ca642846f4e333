// RUN: tcp-opt %s -linalg-to-kernels-pipeline | FileCheck %s

// What is copied is not always what is given first.

// CHECK-LABEL: func.func @product_of_a_copy(
// CHECK-SAME:      %{{[^:]*}}: memref<17x17xi64>, %[[X:.*]]: memref<17x17xf64>, %[[Y:.*]]: memref<17x17xf64>) -> memref<17x17xf64>
// CHECK:         call @matmul_kernel(%{{.*}}, %[[Y]], %[[X]], %{{.*}})
func.func @product_of_a_copy(%i: tensor<17x17xi64>, %x: tensor<17x17xf64>, %y: tensor<17x17xf64>) -> tensor<17x17xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<17x17xf64>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%i, %y : tensor<17x17xi64>, tensor<17x17xf64>) outs(%e : tensor<17x17xf64>) {
  ^bb0(%a: i64, %b: f64, %c: f64):
    linalg.yield %b : f64
  } -> tensor<17x17xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<17x17xf64>) -> tensor<17x17xf64>
  %1 = linalg.matmul ins(%x, %0 : tensor<17x17xf64>, tensor<17x17xf64>) outs(%f : tensor<17x17xf64>) -> tensor<17x17xf64>
  return %1 : tensor<17x17xf64>
}
