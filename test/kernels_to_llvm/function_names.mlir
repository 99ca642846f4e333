// RUN: tcp-opt %s -tcp-to-llvm-pipeline | FileCheck %s
// RUN: not tcp-opt %s '-prepare-arguments=called-from=c' 2>&1 | FileCheck %s --check-prefix=C

// Where no C or C++ is made of them, functions may have any names.

// CHECK-DAG: llvm.func @main(
// CHECK-DAG: llvm.func @round(
// CHECK-DAG: llvm.func @a.b(

// C-DAG: error: func.func @main: function name 'main' is taken in C++; choose another
// C-DAG: error: func.func @round: function name 'round' is taken in the C library; choose another
// C-DAG: error: func.func @a.b: function name 'a.b' is not a C identifier
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tcp.tanh %x : tensor<2xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

func.func @round(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tcp.round_even %x : tensor<2xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

func.func @a.b(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tcp.neg %x : tensor<2xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
