// RUN: tcp-opt %s -convert-stablehlo-to-tcp -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @cholesky(
// CHECK-NOT:     stablehlo
// CHECK:         tcp.rsqrt
// CHECK:         tcp.sqrt
// CHECK:         tcp.rsqrt
// CHECK:         tcp.sqrt
// CHECK:         return %{{.*}} : tensor<2x2xf32>
func.func @cholesky(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.cholesky %x, lower = true : tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----

// What is on the right of the unknown is solved transposed; a diagonal of ones is not divided by.

// CHECK-LABEL: func.func @triangular_solve(
// CHECK-NOT:     tcp.div
// CHECK:         tcp.transpose {{.*}} tensor<3x2xf64> -> tensor<2x3xf64>
// CHECK:         tcp.mul
// CHECK:         tcp.sub
// CHECK:         tcp.transpose {{.*}} tensor<2x3xf64> -> tensor<3x2xf64>
// CHECK-NEXT:    return
func.func @triangular_solve(%a: tensor<2x2xf64>, %b: tensor<3x2xf64>) -> tensor<3x2xf64> {
  %0 = "stablehlo.triangular_solve"(%a, %b) {left_side = false, lower = true, unit_diagonal = true, transpose_a = #stablehlo<transpose TRANSPOSE>} : (tensor<2x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
  return %0 : tensor<3x2xf64>
}

// -----

// Of a matrix of which nothing is known it is asserted that it is square.

// CHECK-LABEL: func.func @getrf(
// CHECK:         arith.cmpi eq
// CHECK:         cf.assert {{.*}}, "lapack_sgetrf_ffi: its matrix has to be square, as no size of it is known"
// CHECK:         scf.for
// CHECK-NOT:     symbolic
func.func @getrf(%x: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?xi32>, tensor<i32>) {
  %0:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%x) {mhlo.backend_config = {}} : (tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?xi32>, tensor<i32>)
  return %0#0, %0#1, %0#2 : tensor<?x?xf32>, tensor<?xi32>, tensor<i32>
}
