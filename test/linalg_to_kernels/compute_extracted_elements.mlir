// RUN: tcp-opt %s -split-input-file -convert-tcp-to-linalg -canonicalize -compute-extracted-elements -cse | FileCheck %s

// Messages along the edges of a graph are computed where they are added up.
// CHECK-LABEL: func.func @messages(
// CHECK-SAME:      %[[X:.*]]: tensor<?x8xf32>, %[[FROM:.*]]: tensor<?x1xi64>, %[[TO:.*]]: tensor<?x1xi64>, %[[WEIGHTS:.*]]: tensor<?x8xf32>)
// CHECK-NOT:     linalg.generic {{.*}}"parallel"
// CHECK:         scf.for %[[EDGE:.*]] = %{{.*}} iter_args(%{{.*}} = %[[X]])
// CHECK:           scf.for %[[AT:.*]] = %{{.*}} iter_args(%[[OUT:.*]] = %{{.*}})
// CHECK-DAG:         %[[PLACE:.*]] = tensor.extract %[[TO]][%[[EDGE]], %{{.*}}]
// CHECK-DAG:         %[[TARGET:.*]] = arith.index_cast %[[PLACE]]
// CHECK-DAG:         %[[ORIGIN:.*]] = tensor.extract %[[FROM]][%[[EDGE]], %{{.*}}]
// CHECK-DAG:         %[[SOURCE:.*]] = arith.index_cast %[[ORIGIN]]
// CHECK-DAG:         %[[READ:.*]] = tensor.extract %[[X]][%[[SOURCE]], %[[AT]]]
// CHECK-DAG:         %[[WEIGHT:.*]] = tensor.extract %[[WEIGHTS]][%[[EDGE]], %[[AT]]]
// CHECK-DAG:         %[[MESSAGE:.*]] = arith.mulf %[[READ]], %[[WEIGHT]]
// CHECK-DAG:         %[[BEFORE:.*]] = tensor.extract %[[OUT]][%[[TARGET]], %[[AT]]]
// CHECK:             %[[AFTER:.*]] = arith.addf %[[BEFORE]], %[[MESSAGE]]
// CHECK:             tensor.insert %[[AFTER]] into %[[OUT]][%[[TARGET]], %[[AT]]]
func.func @messages(%x: tensor<?x8xf32>, %from: tensor<?x1xi64>, %to: tensor<?x1xi64>, %weights: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = tcp.gather_nd %x, %from : tensor<?x8xf32>, tensor<?x1xi64> -> tensor<?x8xf32>
  %1 = tcp.mul %0, %weights : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  %2 = tcp.scatter_nd %x, %to, %1 {combiner = #tcp<combiner sum>} : tensor<?x8xf32>, tensor<?x1xi64>, tensor<?x8xf32> -> tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}

// -----

// What somebody else reads is computed once; functions are computed on vectors.
// CHECK-LABEL: func.func @read_elsewhere(
// CHECK:         arith.mulf
// CHECK:         scf.for
// CHECK-NOT:     arith.mulf
// CHECK:         math.exp
// CHECK:         scf.for
// CHECK-NOT:     math.exp
func.func @read_elsewhere(%x: tensor<8xf32>, %to: tensor<8x1xi64>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = tcp.mul %x, %x : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>
  %1 = tcp.scatter_nd %x, %to, %0 {combiner = #tcp<combiner sum>} : tensor<8xf32>, tensor<8x1xi64>, tensor<8xf32> -> tensor<8xf32>
  %2 = tcp.exp %x : tensor<8xf32> -> tensor<8xf32>
  %3 = tcp.scatter_nd %x, %to, %2 {combiner = #tcp<combiner sum>} : tensor<8xf32>, tensor<8x1xi64>, tensor<8xf32> -> tensor<8xf32>
  return %0, %1, %3 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// What a loop around carries is read before any of it is written, or it would be copied each time.
// CHECK-LABEL: func.func @exchange(
// CHECK:         scf.for %{{.*}} iter_args(%[[SO_FAR:.*]] = %{{.*}})
// CHECK:           linalg.generic
// CHECK:             tensor.extract %[[SO_FAR]]
// CHECK:           scf.for
// CHECK-NOT:         tensor.extract %[[SO_FAR]]
// CHECK:             tensor.insert
func.func @exchange(%x: tensor<8xf32>, %from: tensor<2x1xi64>, %to: tensor<2x1xi64>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%so_far = %x) -> (tensor<8xf32>) {
    %1 = tcp.gather_nd %so_far, %from : tensor<8xf32>, tensor<2x1xi64> -> tensor<2xf32>
    %2 = tcp.scatter_nd %so_far, %to, %1 : tensor<8xf32>, tensor<2x1xi64>, tensor<2xf32> -> tensor<8xf32>
    scf.yield %2 : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// -----

// Of a constant that has one value everywhere no element is extracted: it is that value.
// CHECK-LABEL: func.func @places(
// CHECK-SAME:      %[[X:.*]]: tensor<10x8xf32>,
// CHECK:         %[[READ:.*]] = tensor.extract %[[X]]
// CHECK-NOT:     tensor.extract
// CHECK:         %[[NUMBER:.*]] = arith.constant 2.550000e+02 : f32
// CHECK-NOT:     tensor.extract
// CHECK:         arith.mulf %[[READ]], %[[NUMBER]]
func.func @places(%x: tensor<10x8xf32>, %out: tensor<50x8xf32>, %to: tensor<10x1xi64>) -> tensor<50x8xf32> {
  %0 = arith.constant dense<255.0> : tensor<10x8xf32>
  %1 = tcp.mul %x, %0 : tensor<10x8xf32>, tensor<10x8xf32> -> tensor<10x8xf32>
  %2 = tcp.scatter_nd %out, %to, %1 {combiner = #tcp<combiner sum>} : tensor<50x8xf32>, tensor<10x1xi64>, tensor<10x8xf32> -> tensor<50x8xf32>
  return %2 : tensor<50x8xf32>
}
