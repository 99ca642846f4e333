// RUN: not tcp-opt %s -tcp-to-llvm-pipeline 2>&1 | FileCheck %s
// RUN: not tcp-opt %s -prepare-arguments 2>&1 | FileCheck %s --check-prefixes=CHECK,ALONE

// All that the C ABI cannot express is told of at once.

// CHECK:     prepare_arguments.mlir:{{[0-9]+}}:1: error: func.func @first: argument 0 has type memref<2xf32>
// CHECK:     prepare_arguments.mlir:{{[0-9]+}}:1: error: func.func @second: result 0 has type index
// CHECK-NOT: @third
// CHECK:     prepare_arguments.mlir:{{[0-9]+}}:1: error: func.func @weights: argument 1 has plumbline.weight = 'w': weights come before all other arguments
// CHECK:     prepare_arguments.mlir:{{[0-9]+}}:1: error: func.func @weights: argument 1 has plumbline.weight = 'w': a weight has no dynamic sizes
// CHECK:     prepare_arguments.mlir:{{[0-9]+}}:1: error: func.func @layouts: argument 0 has plumbline.weight = 'v' and plumbline.layout = 'upside down': a tensor<2xf32> cannot lie so
// CHECK:     prepare_arguments.mlir:{{[0-9]+}}:1: error: func.func @layouts: argument 1 has plumbline.weight = 'w' and plumbline.layout = 'perm_0_pos_0_tile_4': a tensor<3x2xf32> cannot lie so
// CHECK:     prepare_arguments.mlir:{{[0-9]+}}:1: error: func.func @written: argument 0 has plumbline.inout = 0: a weight of the library is not written
// CHECK:     prepare_arguments.mlir:{{[0-9]+}}:1: error: func.func @written: argument 0 has plumbline.inout = 0: another argument has the same result
// CHECK:     prepare_arguments.mlir:{{[0-9]+}}:1: error: func.func @written: argument 1 has plumbline.inout = 0: their types differ
// CHECK:     prepare_arguments.mlir:{{[0-9]+}}:1: error: func.func @written: argument 2 has plumbline.inout = 1: there is no such result
// CHECK:     prepare_arguments.mlir:{{[0-9]+}}:1: error: func.func @unnumbered: plumbline.inout is the number of the result that is the argument's new value: 0 : i64
// The pipeline has made pairs of them before.
// ALONE:     prepare_arguments.mlir:{{[0-9]+}}:1: error: func.func @complex: argument 0 has type tensor<2xcomplex<f32>>; a compiled function takes and returns ranked tensors of integers or floats: complex numbers as pairs of these, the real part first, in a last dimension of 2
func.func @first(%x: memref<2xf32>) {
  return
}

func.func @second() -> index {
  %0 = arith.constant 0 : index
  return %0 : index
}

func.func @third(%x: tensor<2xf32>) {
  return
}

func.func @weights(%x: tensor<2xf32>, %w: tensor<?xf32> {plumbline.weight = "w"}) {
  return
}

func.func @layouts(%v: tensor<2xf32> {plumbline.weight = "v", plumbline.layout = "upside down"}, %w: tensor<3x2xf32> {plumbline.weight = "w", plumbline.layout = "perm_0_pos_0_tile_4"}, %x: tensor<3x4xf32> {plumbline.weight = "x", plumbline.layout = "perm_0_pos_0_tile_4"}) {
  return
}

func.func @written(%w: tensor<2xf32> {plumbline.weight = "w", plumbline.inout = 0 : i64}, %x: tensor<3xf32> {plumbline.inout = 0 : i64}, %y: tensor<3xf32> {plumbline.inout = 1 : i64}) -> tensor<2xf32> {
  return %w : tensor<2xf32>
}

func.func @unnumbered(%x: tensor<3xf32> {plumbline.inout}) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}

func.func @complex(%x: tensor<2xcomplex<f32>>) {
  return
}
