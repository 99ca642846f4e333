// RUN: tcp-opt %s -convert-tcp-to-linalg -canonicalize -cse -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @gather(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         linalg.index
// CHECK:         arith.index_cast
// CHECK:         tensor.extract
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @gather(%arg0: tensor<2x3xf32>, %arg1: tensor<2x1xi64>) -> tensor<2x1xf32> {
  %0 = tcp.gather %arg0, %arg1 {dim = 1 : index} : tensor<2x3xf32>, tensor<2x1xi64> -> tensor<2x1xf32>
  return %0 : tensor<2x1xf32>
}

// -----

// CHECK-LABEL: func.func @gather_2(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         linalg.index
// CHECK:         arith.index_cast
// CHECK:         tensor.extract
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @gather_2(%arg0: tensor<?x?xf32>, %arg1: tensor<?x?xi64>) -> tensor<?x?xf32> {
  %0 = tcp.gather %arg0, %arg1 {dim = 0 : i64} : tensor<?x?xf32>, tensor<?x?xi64> -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// CHECK-LABEL: func.func @scatter(
// CHECK:         scf.for
// CHECK:         scf.for
// CHECK:         tensor.extract
// CHECK:         arith.index_cast
// CHECK:         tensor.extract
// CHECK:         tensor.insert
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @scatter(%arg0: tensor<?x?xf32>, %arg1: tensor<?x?xi64>) -> tensor<?x?xf32> {
  %0 = tcp.scatter %arg0, %arg1, %arg0 {dim = 0 : index} : tensor<?x?xf32>, tensor<?x?xi64>, tensor<?x?xf32> -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// Indices that are the same all along a row are read where they come from, so that the row is written as
// a whole, and so are updates.
// CHECK-LABEL: func.func @scatter_rows(
// CHECK-SAME:      %[[X:[^:]*]]: tensor<5x7xf32>, %[[ROWS:[^:]*]]: tensor<9x1xi64>, %[[Y:[^:]*]]: tensor<1x7xf32>)
// CHECK-NOT:     linalg.generic
// CHECK:         scf.for %[[I:[^ ]*]] =
// CHECK:           scf.for %[[J:[^ ]*]] =
// CHECK-DAG:         tensor.extract %[[ROWS]][%[[I]], %c0]
// CHECK-DAG:         tensor.extract %[[Y]][%c0, %[[J]]]
// CHECK:             tensor.insert
func.func @scatter_rows(%x: tensor<5x7xf32>, %rows: tensor<9x1xi64>, %y: tensor<1x7xf32>) -> tensor<5x7xf32> {
  %c7 = arith.constant 7 : index
  %c9 = arith.constant 9 : index
  %indices = tcp.broadcast %rows, %c7 {axes = [1]} : tensor<9x1xi64>, index -> tensor<9x7xi64>
  %updates = tcp.broadcast %y, %c9 {axes = [0]} : tensor<1x7xf32>, index -> tensor<9x7xf32>
  %0 = tcp.scatter %x, %indices, %updates {combiner = #tcp<combiner sum>, dim = 0 : index} : tensor<5x7xf32>, tensor<9x7xi64>, tensor<9x7xf32> -> tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}

// -----

// CHECK-LABEL: func.func @scatter_2(
// CHECK:         scf.for
// CHECK:         scf.for
// CHECK:         tensor.extract
// CHECK:         arith.index_cast
// CHECK:         tensor.extract
// CHECK:         arith.maxui
// CHECK:         tensor.insert
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @scatter_2(%arg0: tensor<?x?xi64>) -> tensor<?x?xi64> {
  %0 = tcp.scatter %arg0, %arg0, %arg0 {combiner = #tcp<combiner max>, dim = 1 : index, int_signedness = #tcp<signedness Unsigned>} : tensor<?x?xi64>, tensor<?x?xi64>, tensor<?x?xi64> -> tensor<?x?xi64>
  return %0 : tensor<?x?xi64>
}

// -----

// CHECK-LABEL: func.func @gather_nd(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:         linalg.index
// CHECK:         arith.index_cast
// CHECK:         arith.index_cast
// CHECK:         tensor.extract
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @gather_nd(%arg0: tensor<4x2x3xf32>, %arg1: tensor<?x2xi32>) -> tensor<?x3xf32> {
  %0 = tcp.gather_nd %arg0, %arg1 : tensor<4x2x3xf32>, tensor<?x2xi32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// Rows that were put together of columns are not read: the columns are.
// CHECK-LABEL: func.func @gather_nd_of_columns(
// CHECK-SAME:      %{{.*}}: tensor<4x2x3xf32>, %[[FIRST:[^:]*]]: tensor<?x1xi64>, %[[SECOND:[^:]*]]: tensor<?x1xi64>
// CHECK:         linalg.generic {{.*}} ins(%[[FIRST]], %[[SECOND]] :
// CHECK:         tensor.extract
// CHECK:         return
func.func @gather_nd_of_columns(%arg0: tensor<4x2x3xf32>, %arg1: tensor<?x1xi64>, %arg2: tensor<?x1xi64>) -> tensor<?x3xf32> {
  %0 = tcp.concat %arg1, %arg2 {dim = 1 : i64} : tensor<?x1xi64>, tensor<?x1xi64> -> tensor<?x2xi64>
  %1 = tcp.gather_nd %arg0, %0 : tensor<4x2x3xf32>, tensor<?x2xi64> -> tensor<?x3xf32>
  return %1 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @scatter_nd(
// CHECK:         scf.for
// CHECK:         scf.for
// CHECK:         tensor.extract
// CHECK:         tensor.extract
// CHECK:         arith.index_cast
// CHECK:         arith.index_cast
// CHECK:         tensor.extract
// CHECK:         tensor.extract
// CHECK:         arith.addf
// CHECK:         tensor.insert
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @scatter_nd(%arg0: tensor<4x2x3xf32>, %arg1: tensor<?x2xi32>, %arg2: tensor<?x3xf32>) -> tensor<4x2x3xf32> {
  %0 = tcp.scatter_nd %arg0, %arg1, %arg2 {combiner = #tcp<combiner sum>} : tensor<4x2x3xf32>, tensor<?x2xi32>, tensor<?x3xf32> -> tensor<4x2x3xf32>
  return %0 : tensor<4x2x3xf32>
}

// -----

// What is true is counted, with a bound by the size of the mask, and then written in a loop that
// branches on nothing.
// CHECK-LABEL: func.func @nonzero(
// CHECK:         %[[SIZE:.*]] = tensor.dim %arg0
// CHECK:         linalg.generic {{.*}}iterator_types = ["reduction"]
// CHECK:         arith.addi
// CHECK:         arith.maxsi
// CHECK:         %[[LEAST:.*]] = arith.minsi %{{.*}}, %[[SIZE]]
// CHECK:         %[[COUNT:.*]] = arith.maxsi %[[LEAST]]
// CHECK:         tensor.empty(%[[COUNT]]) : tensor<?xi64>
// CHECK:         scf.for
// CHECK-NOT:     scf.if
// CHECK:         tensor.insert
// CHECK-NOT:     tcp.
// CHECK:         return
func.func @nonzero(%arg0: tensor<?xi1>) -> tensor<?xi64> {
  %0 = tcp.nonzero %arg0 : tensor<?xi1> -> tensor<?xi64>
  return %0 : tensor<?xi64>
}
