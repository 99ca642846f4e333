// RUN: tcp-opt %s -convert-stablehlo-to-tcp | FileCheck %s

// CHECK-LABEL: func.func @rows(
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Signed>, out_int_signedness = #tcp<signedness Signed>}
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.const
// CHECK:         tcp.maximum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.gather_nd
// CHECK:         return
func.func @rows(%x: tensor<5x3xf32>, %i: tensor<4x1xi32>) -> (tensor<4x3xf32>) {
  %0 = "stablehlo.gather"(%x, %i) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>
  }> : (tensor<5x3xf32>, tensor<4x1xi32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @rows_of_ui8(
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Unsigned>, out_int_signedness = #tcp<signedness Signed>}
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.const
// CHECK:         tcp.maximum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.gather_nd
// CHECK:         return
func.func @rows_of_ui8(%x: tensor<5x3xui8>, %i: tensor<4x1xui8>) -> (tensor<4x3xui8>) {
  %0 = "stablehlo.gather"(%x, %i) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>
  }> : (tensor<5x3xui8>, tensor<4x1xui8>) -> tensor<4x3xui8>
  return %0 : tensor<4x3xui8>
}

// CHECK-LABEL: func.func @rows_of_bf16_by_i64(
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.const
// CHECK:         tcp.maximum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.gather_nd
// CHECK:         return
func.func @rows_of_bf16_by_i64(%x: tensor<5x3xbf16>, %i: tensor<4x1xi64>) -> (tensor<4x3xbf16>) {
  %0 = "stablehlo.gather"(%x, %i) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>
  }> : (tensor<5x3xbf16>, tensor<4x1xi64>) -> tensor<4x3xbf16>
  return %0 : tensor<4x3xbf16>
}

// CHECK-LABEL: func.func @rows_without_a_vector(
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Signed>, out_int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tcp.maximum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0, 1]}
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0], [1, 2]]
// CHECK:         tcp.gather_nd
// CHECK:         return
func.func @rows_without_a_vector(%x: tensor<5x3xf32>, %i: tensor<4x2xi32>) -> (tensor<4x2x3xf32>) {
  %0 = "stablehlo.gather"(%x, %i) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 3>
  }> : (tensor<5x3xf32>, tensor<4x2xi32>) -> tensor<4x2x3xf32>
  return %0 : tensor<4x2x3xf32>
}

// CHECK-LABEL: func.func @columns(
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Signed>, out_int_signedness = #tcp<signedness Signed>}
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.const
// CHECK:         tcp.maximum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.transpose {{.*}} {permutation = [1, 0]}
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.gather_nd
// CHECK:         tcp.transpose {{.*}} {permutation = [1, 0]}
// CHECK:         return
func.func @columns(%x: tensor<5x3xf32>, %i: tensor<2x1xi32>) -> (tensor<5x2xf32>) {
  %0 = "stablehlo.gather"(%x, %i) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 5, 1>
  }> : (tensor<5x3xf32>, tensor<2x1xi32>) -> tensor<5x2xf32>
  return %0 : tensor<5x2xf32>
}

// CHECK-LABEL: func.func @elements(
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Signed>, out_int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.slice
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.slice
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.const
// CHECK:         tcp.maximum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tcp.maximum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.concat
// CHECK:         tcp.gather_nd
// CHECK:         return
func.func @elements(%x: tensor<5x3xf32>, %i: tensor<4x2xi32>) -> (tensor<4xf32>) {
  %0 = "stablehlo.gather"(%x, %i) <{
    dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>
  }> : (tensor<5x3xf32>, tensor<4x2xi32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @elements_vector_first(
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Signed>, out_int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.transpose {{.*}} {permutation = [1, 0]}
// CHECK:         tcp.slice
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.slice
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.const
// CHECK:         tcp.maximum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tcp.maximum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK-NOT:     tcp.transpose
// CHECK:         tcp.concat
// CHECK:         tcp.gather_nd
// CHECK:         return
func.func @elements_vector_first(%x: tensor<5x3xf32>, %i: tensor<2x4xi32>) -> (tensor<4xf32>) {
  %0 = "stablehlo.gather"(%x, %i) <{
    dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [1, 0], index_vector_dim = 0>, slice_sizes = array<i64: 1, 1>
  }> : (tensor<5x3xf32>, tensor<2x4xi32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @windows(
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Signed>, out_int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.slice
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.slice
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.const
// CHECK:         tcp.maximum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tcp.maximum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1, 2]]
// CHECK:         tcp.broadcast {{.*}} {axes = [1, 2]}
// CHECK:         tcp.iota
// CHECK:         tcp.add
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1, 2]]
// CHECK:         tcp.broadcast {{.*}} {axes = [1, 2]}
// CHECK:         tcp.iota
// CHECK:         tcp.add
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0], [1], [2, 3]]
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0], [1], [2, 3]]
// CHECK:         tcp.concat
// CHECK:         tcp.gather_nd
// CHECK:         return
func.func @windows(%x: tensor<5x6xf32>, %i: tensor<4x2xi32>) -> (tensor<4x2x3xf32>) {
  %0 = "stablehlo.gather"(%x, %i) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 3>
  }> : (tensor<5x6xf32>, tensor<4x2xi32>) -> tensor<4x2x3xf32>
  return %0 : tensor<4x2x3xf32>
}

// CHECK-LABEL: func.func @windows_in_front(
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Signed>, out_int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.slice
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.slice
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.const
// CHECK:         tcp.maximum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tcp.maximum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1, 2]]
// CHECK:         tcp.broadcast {{.*}} {axes = [1, 2]}
// CHECK:         tcp.iota
// CHECK:         tcp.add
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1, 2]]
// CHECK:         tcp.broadcast {{.*}} {axes = [1, 2]}
// CHECK:         tcp.iota
// CHECK:         tcp.add
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0], [1], [2, 3]]
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0], [1], [2, 3]]
// CHECK:         tcp.concat
// CHECK:         tcp.gather_nd
// CHECK:         tcp.transpose {{.*}} {permutation = [1, 0, 2]}
// CHECK:         return
func.func @windows_in_front(%x: tensor<5x6xf32>, %i: tensor<4x2xi32>) -> (tensor<2x4x3xf32>) {
  %0 = "stablehlo.gather"(%x, %i) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [0, 2], start_index_map = [1, 0], index_vector_dim = 1>, slice_sizes = array<i64: 2, 3>
  }> : (tensor<5x6xf32>, tensor<4x2xi32>) -> tensor<2x4x3xf32>
  return %0 : tensor<2x4x3xf32>
}

// CHECK-LABEL: func.func @kept_of_size_1(
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Signed>, out_int_signedness = #tcp<signedness Signed>}
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.const
// CHECK:         tcp.maximum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.gather_nd
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1], [2], [3]]
// CHECK:         tcp.transpose {{.*}} {permutation = [1, 0, 2, 3]}
// CHECK:         return
func.func @kept_of_size_1(%x: tensor<5x6x2xf32>, %i: tensor<4x1xi32>) -> (tensor<1x4x6x2xf32>) {
  %0 = "stablehlo.gather"(%x, %i) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [0, 2, 3], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 6, 2>
  }> : (tensor<5x6x2xf32>, tensor<4x1xi32>) -> tensor<1x4x6x2xf32>
  return %0 : tensor<1x4x6x2xf32>
}

// CHECK-LABEL: func.func @part_of_what_is_not_named(
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Signed>, out_int_signedness = #tcp<signedness Signed>}
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.const
// CHECK:         tcp.maximum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.broadcast {{.*}} {axes = [1]}
// CHECK:         tcp.iota
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0], [1, 2]]
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0], [1, 2]]
// CHECK:         tcp.concat
// CHECK:         tcp.gather_nd
// CHECK:         return
func.func @part_of_what_is_not_named(%x: tensor<5x6xf32>, %i: tensor<4x1xi32>) -> (tensor<4x3xf32>) {
  %0 = "stablehlo.gather"(%x, %i) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>
  }> : (tensor<5x6xf32>, tensor<4x1xi32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @of_size_1_not_named(
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Signed>, out_int_signedness = #tcp<signedness Signed>}
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.const
// CHECK:         tcp.maximum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.gather_nd
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         return
func.func @of_size_1_not_named(%x: tensor<5x1xf32>, %i: tensor<4x1xi32>) -> (tensor<4xf32>) {
  %0 = "stablehlo.gather"(%x, %i) <{
    dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>
  }> : (tensor<5x1xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @batches(
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Signed>, out_int_signedness = #tcp<signedness Signed>}
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0], [1, 2]]
// CHECK:         tcp.const
// CHECK:         tcp.maximum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0, 1]}
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.iota
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0], [1, 2]]
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0], [1, 2]]
// CHECK:         tcp.concat
// CHECK-NOT:     tcp.transpose
// CHECK:         tcp.gather_nd
// CHECK:         return
func.func @batches(%x: tensor<2x5x3xf32>, %i: tensor<2x4x1xi32>) -> (tensor<2x4x3xf32>) {
  %0 = "stablehlo.gather"(%x, %i) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>
  }> : (tensor<2x5x3xf32>, tensor<2x4x1xi32>) -> tensor<2x4x3xf32>
  return %0 : tensor<2x4x3xf32>
}

// CHECK-LABEL: func.func @one_window(
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Signed>, out_int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.slice
// CHECK:         tensor.collapse_shape
// CHECK:         tcp.slice
// CHECK:         tensor.collapse_shape
// CHECK:         tcp.const
// CHECK:         tcp.maximum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tcp.maximum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tensor.expand_shape
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.broadcast {{.*}} {axes = [0, 1]}
// CHECK:         tcp.iota
// CHECK:         tcp.add
// CHECK:         tensor.expand_shape
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.broadcast {{.*}} {axes = [0, 1]}
// CHECK:         tcp.iota
// CHECK:         tcp.add
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0], [1, 2]]
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0], [1, 2]]
// CHECK:         tcp.concat
// CHECK:         tcp.gather_nd
// CHECK:         return
func.func @one_window(%x: tensor<5x6xf32>, %i: tensor<2xi32>) -> (tensor<2x3xf32>) {
  %0 = "stablehlo.gather"(%x, %i) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 0>, slice_sizes = array<i64: 2, 3>
  }> : (tensor<5x6xf32>, tensor<2xi32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @rows_f32(
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Signed>, out_int_signedness = #tcp<signedness Signed>}
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.compare {{.*}} {int_signedness = #tcp<signedness Unsigned>, predicate = #tcp<predicate lt>}
// CHECK:         tcp.const
// CHECK:         tcp.maximum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.select
// CHECK:         tcp.const
// CHECK:         tcp.pad
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.scatter_nd
// CHECK:         tcp.slice
// CHECK:         return
func.func @rows_f32(%x: tensor<5x3xf32>, %i: tensor<4x1xi32>, %u: tensor<4x3xf32>) -> (tensor<5x3xf32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      stablehlo.return %b : tensor<f32>
    }) : (tensor<5x3xf32>, tensor<4x1xi32>, tensor<4x3xf32>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}

// CHECK-LABEL: func.func @rows_ui8(
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Signed>, out_int_signedness = #tcp<signedness Signed>}
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.compare {{.*}} {int_signedness = #tcp<signedness Unsigned>, predicate = #tcp<predicate lt>}
// CHECK:         tcp.const
// CHECK:         tcp.maximum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.select
// CHECK:         tcp.const
// CHECK:         tcp.pad
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.scatter_nd
// CHECK:         tcp.slice
// CHECK:         return
func.func @rows_ui8(%x: tensor<5x3xui8>, %i: tensor<4x1xi32>, %u: tensor<4x3xui8>) -> (tensor<5x3xui8>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<ui8>, %b: tensor<ui8>):
      stablehlo.return %b : tensor<ui8>
    }) : (tensor<5x3xui8>, tensor<4x1xi32>, tensor<4x3xui8>) -> tensor<5x3xui8>
  return %0 : tensor<5x3xui8>
}

// CHECK-LABEL: func.func @rows_add_f32(
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Signed>, out_int_signedness = #tcp<signedness Signed>}
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.compare {{.*}} {int_signedness = #tcp<signedness Unsigned>, predicate = #tcp<predicate lt>}
// CHECK:         tcp.const
// CHECK:         tcp.maximum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.broadcast {{.*}} {axes = [1]}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0, 1]}
// CHECK:         tcp.select
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.scatter_nd {{.*}} {combiner = #tcp<combiner sum>}
// CHECK:         return
func.func @rows_add_f32(%x: tensor<5x3xf32>, %i: tensor<9x1xi32>, %u: tensor<9x3xf32>) -> (tensor<5x3xf32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<5x3xf32>, tensor<9x1xi32>, tensor<9x3xf32>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}

// CHECK-LABEL: func.func @rows_add_f64(
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Signed>, out_int_signedness = #tcp<signedness Signed>}
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.compare {{.*}} {int_signedness = #tcp<signedness Unsigned>, predicate = #tcp<predicate lt>}
// CHECK:         tcp.const
// CHECK:         tcp.maximum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.broadcast {{.*}} {axes = [1]}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0, 1]}
// CHECK:         tcp.select
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.scatter_nd {{.*}} {combiner = #tcp<combiner sum>}
// CHECK:         return
func.func @rows_add_f64(%x: tensor<5x3xf64>, %i: tensor<9x1xi32>, %u: tensor<9x3xf64>) -> (tensor<5x3xf64>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %1 = stablehlo.add %a, %b : tensor<f64>
      stablehlo.return %1 : tensor<f64>
    }) : (tensor<5x3xf64>, tensor<9x1xi32>, tensor<9x3xf64>) -> tensor<5x3xf64>
  return %0 : tensor<5x3xf64>
}

// CHECK-LABEL: func.func @rows_add_i32(
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Signed>, out_int_signedness = #tcp<signedness Signed>}
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.compare {{.*}} {int_signedness = #tcp<signedness Unsigned>, predicate = #tcp<predicate lt>}
// CHECK:         tcp.const
// CHECK:         tcp.maximum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.broadcast {{.*}} {axes = [1]}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0, 1]}
// CHECK:         tcp.select
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.scatter_nd {{.*}} {combiner = #tcp<combiner sum>, int_signedness = #tcp<signedness Signed>}
// CHECK:         return
func.func @rows_add_i32(%x: tensor<5x3xi32>, %i: tensor<9x1xi32>, %u: tensor<9x3xi32>) -> (tensor<5x3xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %1 = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %1 : tensor<i32>
    }) : (tensor<5x3xi32>, tensor<9x1xi32>, tensor<9x3xi32>) -> tensor<5x3xi32>
  return %0 : tensor<5x3xi32>
}

// CHECK-LABEL: func.func @one_window_f32(
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Signed>, out_int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.slice
// CHECK:         tcp.slice
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.broadcast {{.*}} {axes = [0, 1]}
// CHECK:         tcp.iota
// CHECK:         tcp.add
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.broadcast {{.*}} {axes = [0, 1]}
// CHECK:         tcp.iota
// CHECK:         tcp.add
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0, 1]}
// CHECK:         tcp.compare {{.*}} {int_signedness = #tcp<signedness Unsigned>, predicate = #tcp<predicate lt>}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0, 1]}
// CHECK:         tcp.compare {{.*}} {int_signedness = #tcp<signedness Unsigned>, predicate = #tcp<predicate lt>}
// CHECK:         tcp.logical_and
// CHECK:         tcp.const
// CHECK:         tcp.maximum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0, 1]}
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tcp.maximum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0, 1]}
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0, 1]}
// CHECK:         tcp.select
// CHECK:         tcp.const
// CHECK:         tcp.pad
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0], [1, 2]]
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0], [1, 2]]
// CHECK:         tcp.concat
// CHECK:         tcp.scatter_nd
// CHECK:         tcp.slice
// CHECK:         return
func.func @one_window_f32(%x: tensor<5x6xf32>, %i: tensor<2xi32>, %u: tensor<2x3xf32>) -> (tensor<5x6xf32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 0>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      stablehlo.return %b : tensor<f32>
    }) : (tensor<5x6xf32>, tensor<2xi32>, tensor<2x3xf32>) -> tensor<5x6xf32>
  return %0 : tensor<5x6xf32>
}

// CHECK-LABEL: func.func @windows_add_f32(
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Signed>, out_int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.transpose {{.*}} {permutation = [1, 0, 2]}
// CHECK:         tcp.slice
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.slice
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1, 2]]
// CHECK:         tcp.broadcast {{.*}} {axes = [1, 2]}
// CHECK:         tcp.iota
// CHECK:         tcp.add
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1, 2]]
// CHECK:         tcp.broadcast {{.*}} {axes = [1, 2]}
// CHECK:         tcp.iota
// CHECK:         tcp.add
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0, 1, 2]}
// CHECK:         tcp.compare {{.*}} {int_signedness = #tcp<signedness Unsigned>, predicate = #tcp<predicate lt>}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0, 1, 2]}
// CHECK:         tcp.compare {{.*}} {int_signedness = #tcp<signedness Unsigned>, predicate = #tcp<predicate lt>}
// CHECK:         tcp.logical_and
// CHECK:         tcp.const
// CHECK:         tcp.maximum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0, 1, 2]}
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tcp.maximum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0, 1, 2]}
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0, 1, 2]}
// CHECK:         tcp.select
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0], [1], [2, 3]]
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0], [1], [2, 3]]
// CHECK:         tcp.concat
// CHECK:         tcp.scatter_nd {{.*}} {combiner = #tcp<combiner sum>}
// CHECK:         return
func.func @windows_add_f32(%x: tensor<5x6xf32>, %i: tensor<4x2xi32>, %u: tensor<2x4x3xf32>) -> (tensor<5x6xf32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 2], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<5x6xf32>, tensor<4x2xi32>, tensor<2x4x3xf32>) -> tensor<5x6xf32>
  return %0 : tensor<5x6xf32>
}

// CHECK-LABEL: func.func @window_of_size_1_add_f32(
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Signed>, out_int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.transpose {{.*}} {permutation = [1, 2, 0]}
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0], [1, 2]]
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.compare {{.*}} {int_signedness = #tcp<signedness Unsigned>, predicate = #tcp<predicate lt>}
// CHECK:         tcp.const
// CHECK:         tcp.maximum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.broadcast {{.*}} {axes = [1]}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0, 1]}
// CHECK:         tcp.select
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.scatter_nd {{.*}} {combiner = #tcp<combiner sum>}
// CHECK:         return
func.func @window_of_size_1_add_f32(%x: tensor<5x6xf32>, %i: tensor<4x1xi32>, %u: tensor<1x4x6xf32>) -> (tensor<5x6xf32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 2], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<5x6xf32>, tensor<4x1xi32>, tensor<1x4x6xf32>) -> tensor<5x6xf32>
  return %0 : tensor<5x6xf32>
}

// CHECK-LABEL: func.func @of_size_1_not_named_f32(
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Signed>, out_int_signedness = #tcp<signedness Signed>}
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.compare {{.*}} {int_signedness = #tcp<signedness Unsigned>, predicate = #tcp<predicate lt>}
// CHECK:         tcp.const
// CHECK:         tcp.maximum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.select
// CHECK:         tcp.const
// CHECK:         tcp.pad
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.scatter_nd
// CHECK:         tcp.slice
// CHECK:         return
func.func @of_size_1_not_named_f32(%x: tensor<5x1xf32>, %i: tensor<4x1xi32>, %u: tensor<4xf32>) -> (tensor<5x1xf32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      stablehlo.return %b : tensor<f32>
    }) : (tensor<5x1xf32>, tensor<4x1xi32>, tensor<4xf32>) -> tensor<5x1xf32>
  return %0 : tensor<5x1xf32>
}

// CHECK-LABEL: func.func @batches_add_f32(
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Signed>, out_int_signedness = #tcp<signedness Signed>}
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0], [1, 2]]
// CHECK:         tcp.iota
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0, 1]}
// CHECK:         tcp.compare {{.*}} {int_signedness = #tcp<signedness Unsigned>, predicate = #tcp<predicate lt>}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0, 1]}
// CHECK:         tcp.compare {{.*}} {int_signedness = #tcp<signedness Unsigned>, predicate = #tcp<predicate lt>}
// CHECK:         tcp.logical_and
// CHECK:         tcp.const
// CHECK:         tcp.maximum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0, 1]}
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tcp.maximum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0, 1]}
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0], [1, 2]]
// CHECK:         tcp.broadcast {{.*}} {axes = [2]}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0, 1, 2]}
// CHECK:         tcp.select
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0], [1, 2]]
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0], [1, 2]]
// CHECK:         tcp.concat
// CHECK-NOT:     tcp.transpose
// CHECK:         tcp.scatter_nd {{.*}} {combiner = #tcp<combiner sum>}
// CHECK:         return
func.func @batches_add_f32(%x: tensor<2x5x3xf32>, %i: tensor<2x4x1xi32>, %u: tensor<2x4x3xf32>) -> (tensor<2x5x3xf32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<2x5x3xf32>, tensor<2x4x1xi32>, tensor<2x4x3xf32>) -> tensor<2x5x3xf32>
  return %0 : tensor<2x5x3xf32>
}

// CHECK-LABEL: func.func @nothing_f32(
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Signed>, out_int_signedness = #tcp<signedness Signed>}
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.compare {{.*}} {int_signedness = #tcp<signedness Unsigned>, predicate = #tcp<predicate lt>}
// CHECK:         tcp.const
// CHECK:         tcp.maximum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.select
// CHECK:         tcp.const
// CHECK:         tcp.pad
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.scatter_nd
// CHECK:         tcp.slice
// CHECK:         return
func.func @nothing_f32(%x: tensor<5x3xf32>, %i: tensor<0x1xi32>, %u: tensor<0x3xf32>) -> (tensor<5x3xf32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      stablehlo.return %b : tensor<f32>
    }) : (tensor<5x3xf32>, tensor<0x1xi32>, tensor<0x3xf32>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}

// CHECK-LABEL: func.func @dynamic_gather(
// CHECK:         tensor.extract
// CHECK:         arith.index_cast
// CHECK:         tensor.extract
// CHECK:         arith.index_cast
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Signed>, out_int_signedness = #tcp<signedness Signed>}
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         arith.subi
// CHECK:         tcp.const
// CHECK:         tcp.maximum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         arith.index_cast
// CHECK:         tensor.from_elements
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1, 2]]
// CHECK:         tcp.broadcast {{.*}} {axes = [1, 2]}
// CHECK:         tcp.iota
// CHECK:         tcp.add
// CHECK:         tcp.iota
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0], [1], [2, 3]]
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0], [1], [2, 3]]
// CHECK:         tcp.concat
// CHECK:         tcp.gather_nd
// CHECK:         tcp.transpose {{.*}} {permutation = [0, 2, 1]}
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0], [1, 2]]
// CHECK:         return
func.func @dynamic_gather(%x: tensor<5x6xf32>, %i: tensor<4x1xi32>, %s: tensor<2xi32>) -> (tensor<4x?xf32>) {
  %0 = "stablehlo.dynamic_gather"(%x, %i, %s) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<5x6xf32>, tensor<4x1xi32>, tensor<2xi32>) -> tensor<4x?xf32>
  return %0 : tensor<4x?xf32>
}
