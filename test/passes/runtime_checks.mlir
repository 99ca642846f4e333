// RUN: tcp-opt %s -name-tcp-ops -tcp-to-linalg-pipeline -generate-runtime-checks -locate-assertions | FileCheck %s
// RUN: tcp-opt %s -name-tcp-ops -tcp-to-linalg-pipeline -check-tensor-shapes -locate-assertions | FileCheck %s --check-prefix=TENSOR

// CHECK-LABEL: func.func @elementwise(
// CHECK:         cf.assert %{{.*}}, "{{.*}}runtime_checks.mlir:[[# @LINE + 3]]:8: error: 'tcp.add' op operand 1 disagrees with the others about the size of dimension 0"
// CHECK:         linalg.generic
func.func @elementwise(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = tcp.add %x, %y : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// What is static needs no check.

// CHECK-LABEL: func.func @static(
// CHECK-NOT:     cf.assert
// CHECK:         return
func.func @static(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tcp.add %x, %y : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @concat(
// CHECK:         cf.assert %{{.*}}, "{{.*}}:[[# @LINE + 4]]:8: error: 'tcp.concat' op operand 1 disagrees with the first about the size of dimension 1"
// TENSOR-LABEL: func.func @concat(
// TENSOR:         cf.assert
func.func @concat(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = tcp.concat %x, %y {dim = 0} : tensor<?x?xf32>, tensor<?x?xf32> -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @expand_shape(
// CHECK:         cf.assert %{{.*}}, "{{.*}}: error: the size of dimension 0 does not split into those"
func.func @expand_shape(%x: tensor<?xf32>, %n: index) -> tensor<?x4xf32> {
  %0 = tensor.expand_shape %x [[0, 1]] output_shape [%n, 4] : tensor<?xf32> into tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// Where no place is known, the message is the same without one.

// CHECK-LABEL: func.func @from_nowhere(
// CHECK:         cf.assert %{{.*}}, "operand 1 disagrees with the others about the size of dimension 0"
// TENSOR-LABEL: func.func @from_nowhere(
func.func @from_nowhere(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = tcp.add %x, %y : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32> loc(unknown)
  return %0 : tensor<?xf32>
}
