// RUN: tcp-opt %s | FileCheck %s
// RUN: tcp-opt %s -mlir-print-op-generic | tcp-opt | FileCheck %s

// CHECK-LABEL: func.func @gather(
func.func @gather(%arg0: tensor<2x3xf32>, %arg1: tensor<2x1xi64>) {
  // CHECK-NEXT: %0 = tcp.gather %arg0, %arg1 {dim = 1 : index} : tensor<2x3xf32>, tensor<2x1xi64> -> tensor<2x1xf32>
  %0 = tcp.gather %arg0, %arg1 {dim = 1 : index} : tensor<2x3xf32>, tensor<2x1xi64> -> tensor<2x1xf32>
  return
}

// CHECK-LABEL: func.func @gather_dynamic(
func.func @gather_dynamic(%arg0: tensor<?x?xf32>, %arg1: tensor<?x?xi64>) {
  // CHECK-NEXT: %0 = tcp.gather %arg0, %arg1 {dim = 0 : i64} : tensor<?x?xf32>, tensor<?x?xi64> -> tensor<?x?xf32>
  %0 = tcp.gather %arg0, %arg1 {dim = 0 : i64} : tensor<?x?xf32>, tensor<?x?xi64> -> tensor<?x?xf32>
  return
}

// CHECK-LABEL: func.func @scatter(
func.func @scatter(%arg0: tensor<?x?xf32>, %arg1: tensor<?x?xi64>) {
  // CHECK-NEXT: %0 = tcp.scatter %arg0, %arg1, %arg0 {dim = 0 : index} : tensor<?x?xf32>, tensor<?x?xi64>, tensor<?x?xf32> -> tensor<?x?xf32>
  %0 = tcp.scatter %arg0, %arg1, %arg0 {dim = 0 : index} : tensor<?x?xf32>, tensor<?x?xi64>, tensor<?x?xf32> -> tensor<?x?xf32>
  return
}

// CHECK-LABEL: func.func @scatter_maximum(
func.func @scatter_maximum(%arg0: tensor<?x?xi64>) {
  // CHECK-NEXT: %0 = tcp.scatter %arg0, %arg0, %arg0 {combiner = #tcp<combiner max>, dim = 1 : index, int_signedness = #tcp<signedness Unsigned>} : tensor<?x?xi64>, tensor<?x?xi64>, tensor<?x?xi64> -> tensor<?x?xi64>
  %0 = tcp.scatter %arg0, %arg0, %arg0 {combiner = #tcp<combiner max>, dim = 1 : index, int_signedness = #tcp<signedness Unsigned>} : tensor<?x?xi64>, tensor<?x?xi64>, tensor<?x?xi64> -> tensor<?x?xi64>
  return
}

// CHECK-LABEL: func.func @gather_nd(
func.func @gather_nd(%arg0: tensor<4x2x3xf32>, %arg1: tensor<?x2xi32>) {
  // CHECK-NEXT: %0 = tcp.gather_nd %arg0, %arg1 : tensor<4x2x3xf32>, tensor<?x2xi32> -> tensor<?x3xf32>
  %0 = tcp.gather_nd %arg0, %arg1 : tensor<4x2x3xf32>, tensor<?x2xi32> -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: func.func @scatter_nd(
func.func @scatter_nd(%arg0: tensor<4x2x3xf32>, %arg1: tensor<?x2xi32>, %arg2: tensor<?x3xf32>) {
  // CHECK-NEXT: %0 = tcp.scatter_nd %arg0, %arg1, %arg2 {combiner = #tcp<combiner sum>} : tensor<4x2x3xf32>, tensor<?x2xi32>, tensor<?x3xf32> -> tensor<4x2x3xf32>
  %0 = tcp.scatter_nd %arg0, %arg1, %arg2 {combiner = #tcp<combiner sum>} : tensor<4x2x3xf32>, tensor<?x2xi32>, tensor<?x3xf32> -> tensor<4x2x3xf32>
  return
}

// CHECK-LABEL: func.func @nonzero(
func.func @nonzero(%arg0: tensor<?xi1>) {
  // CHECK-NEXT: %0 = tcp.nonzero %arg0 : tensor<?xi1> -> tensor<?xi64>
  %0 = tcp.nonzero %arg0 : tensor<?xi1> -> tensor<?xi64>
  return
}
