// RUN: tcp-opt %s -note-noalias -prepare-c-abi -split-input-file -verify-diagnostics | FileCheck %s

// What is said of arguments moves to their function.

// CHECK:       #[[SHAPE:.*]] = affine_map<()[s0] -> (s0)>
// CHECK-LABEL: func.func @f(%arg0: memref<2x3xf32>, %arg1: memref<?xf32>)
// CHECK-SAME:    plumbline.shapes = [#[[SHAPE]]]
// CHECK-SAME:    plumbline.symbols = [{max_val = 9223372036854775807 : i64, min_val = 1 : i64, name = "n"}]
// CHECK-SAME{LITERAL}:    plumbline.weights = [["a", array<i64: 2, 3>, 4]]
func.func @f(%w: memref<2x3xf32> {plumbline.weight = "a"}, %x: memref<?xf32> {plumbline.shape = affine_map<()[s0] -> (s0)>}) attributes {plumbline.symbols = [{name = "n", min_val = 1 : i64, max_val = 9223372036854775807 : i64}]} {
  return
}

// The pointers to elements, as LLVM counts arguments.
// CHECK-LABEL: func.func private @kernel(
// CHECK-NOT:     llvm.noalias
// CHECK-SAME:    plumbline.noalias = array<i64: 1, 12>
func.func private @kernel(%x: memref<2xf32> {llvm.noalias}, %y: memref<2xf32>, %s: f32, %z: memref<2xf32> {llvm.noalias}) attributes {no_inline} {
  return
}

// -----

// expected-error @below {{func.func @tensor: argument 0 has type tensor<2xf32>; a compiled function takes and returns row-major memrefs of integers or floats}}
func.func @tensor(%x: tensor<2xf32>) {
  return
}

// expected-error @below {{func.func @strided: argument 0 has type memref<2xf32, strided<[2]>>}}
func.func @strided(%x: memref<2xf32, strided<[2]>>) {
  return
}

// expected-error @below {{func.func @elsewhere: argument 0 has type memref<2xf32, 3>}}
func.func @elsewhere(%x: memref<2xf32, 3>) {
  return
}
