// RUN: tcp-opt %s -note-argument-shapes -drop-symbolic-shape-ops | FileCheck %s

// What ops say of arguments goes along as attributes; symbols that no argument has do not.

// CHECK-LABEL: func.func @affine_expressions_of_several_symbols(
// CHECK-SAME:      %arg0: tensor<?x3xf32> {plumbline.shape = affine_map<()[s0, s1] -> (s1, 3)>, plumbline.weight = "w"}
// CHECK-SAME:      %arg1: tensor<?xf32> {plumbline.shape = affine_map<()[s0, s1] -> (s0 * 2 + s1 - 1)>}
// CHECK-SAME:      %arg2: tensor<?xf32>)
// CHECK-SAME:      attributes {plumbline.symbols = [{max_val = 64 : i64, min_val = 2 : i64, name = "n"}, {max_val = 9223372036854775807 : i64, min_val = 0 : i64, name = "m"}]}
// CHECK-NOT:     tcp.
func.func @affine_expressions_of_several_symbols(%x: tensor<?x3xf32> {plumbline.weight = "w"}, %y: tensor<?xf32>, %z: tensor<?xf32>) {
  %n = tcp.symbolic_int "n" {min_val = 2, max_val = 64} : i64
  %unused = tcp.symbolic_int "unused" {min_val = 2, max_val = 64} : i64
  %m = tcp.symbolic_int "m" {min_val = 0, max_val = 9223372036854775806} : i64
  tcp.bind_symbolic_shape %x, [%m], affine_map<()[s0] -> (s0, 3)> : tensor<?x3xf32>
  tcp.bind_symbolic_shape %y, [%m, %n], affine_map<()[s0, s1] -> (s1 * 2 + s0 - 1)> : tensor<?xf32>
  return
}

// CHECK-LABEL: func.func @nothing_dynamic(
// CHECK-SAME:      %arg0: tensor<3xf32>) {
func.func @nothing_dynamic(%x: tensor<3xf32>) {
  return
}
