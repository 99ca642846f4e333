// RUN: not tcp-opt %s -split-input-file 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=ERROR < %t

// CHECK-LABEL: func.func @first(
// CHECK:       // -----
// CHECK-NOT:   @second
// CHECK:       // -----
// CHECK-LABEL: func.func @third(
func.func @first() {
  return
}

// -----

// Lines are counted from the start of the file.

// ERROR:      split_input_file.mlir:21:8: error: 'tcp.tanh' op
// ERROR-NEXT:   %0 = tcp.tanh %x : tensor<2xi32> -> tensor<2xi32>
// ERROR-NEXT:        ^
func.func @second(%x: tensor<2xi32>) {
  %0 = tcp.tanh %x : tensor<2xi32> -> tensor<2xi32>
  return
}

// -----

func.func @third() {
  return
}
