// RUN: tcp-opt %s -convert-stablehlo-to-tcp | FileCheck %s

// CHECK-LABEL: func.func @constant(
// CHECK:         tcp.const
// CHECK:         tcp.const
// CHECK:         tcp.const
// CHECK:         tcp.const
// CHECK:         return
func.func @constant() -> (tensor<3xui8>, tensor<2xi1>, tensor<2x2xbf16>, tensor<ui64>) {
  %0 = stablehlo.constant dense<[1, 128, 255]> : tensor<3xui8>
  %1 = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %2 = stablehlo.constant dense<1.5> : tensor<2x2xbf16>
  %3 = stablehlo.constant dense<18446744073709551615> : tensor<ui64>
  return %0, %1, %2, %3 : tensor<3xui8>, tensor<2xi1>, tensor<2x2xbf16>, tensor<ui64>
}

// CHECK-LABEL: func.func @iota(
// CHECK:         tcp.iota
// CHECK:         tcp.iota
// CHECK:         tcp.iota
// CHECK:         tcp.iota
// CHECK:         return
func.func @iota() -> (tensor<2x3xf32>, tensor<4xui8>, tensor<3xbf16>, tensor<0x2xi64>) {
  %0 = stablehlo.iota dim = 1 : tensor<2x3xf32>
  %1 = stablehlo.iota dim = 0 : tensor<4xui8>
  %2 = stablehlo.iota dim = 0 : tensor<3xbf16>
  %3 = stablehlo.iota dim = 0 : tensor<0x2xi64>
  return %0, %1, %2, %3 : tensor<2x3xf32>, tensor<4xui8>, tensor<3xbf16>, tensor<0x2xi64>
}

// CHECK-LABEL: func.func @broadcast_in_dim(
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1], [2, 3]]
// CHECK:         tcp.broadcast {{.*}} {axes = [0, 2, 3]}
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.transpose {{.*}} {permutation = [1, 0]}
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         return
func.func @broadcast_in_dim(%x: tensor<3x1xf32>, %s: tensor<ui8>, %y: tensor<2x3xi1>, %z: tensor<0xf32>) -> (tensor<2x3x4x5xf32>, tensor<4xui8>, tensor<3x2xi1>, tensor<2x0xf32>) {
  %0 = stablehlo.broadcast_in_dim %x, dims = [1, 2] : (tensor<3x1xf32>) -> tensor<2x3x4x5xf32>
  %1 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<ui8>) -> tensor<4xui8>
  %2 = stablehlo.broadcast_in_dim %y, dims = [1, 0] : (tensor<2x3xi1>) -> tensor<3x2xi1>
  %3 = stablehlo.broadcast_in_dim %z, dims = [1] : (tensor<0xf32>) -> tensor<2x0xf32>
  return %0, %1, %2, %3 : tensor<2x3x4x5xf32>, tensor<4xui8>, tensor<3x2xi1>, tensor<2x0xf32>
}

// CHECK-LABEL: func.func @reshape(
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tensor.collapse_shape
// CHECK:         tensor.expand_shape
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1, 2]]
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1, 2]]
// CHECK:         return
func.func @reshape(%x: tensor<2x6xf32>, %y: tensor<1x1xui8>, %z: tensor<i1>, %e: tensor<0x4xf32>) -> (tensor<3x4xf32>, tensor<ui8>, tensor<1x1x1xi1>, tensor<2x0x3xf32>) {
  %0 = stablehlo.reshape %x : (tensor<2x6xf32>) -> tensor<3x4xf32>
  %1 = stablehlo.reshape %y : (tensor<1x1xui8>) -> tensor<ui8>
  %2 = stablehlo.reshape %z : (tensor<i1>) -> tensor<1x1x1xi1>
  %3 = stablehlo.reshape %e : (tensor<0x4xf32>) -> tensor<2x0x3xf32>
  return %0, %1, %2, %3 : tensor<3x4xf32>, tensor<ui8>, tensor<1x1x1xi1>, tensor<2x0x3xf32>
}

// CHECK-LABEL: func.func @slice(
// CHECK:         tcp.slice
// CHECK:         tcp.slice
// CHECK:         return
func.func @slice(%x: tensor<5x6xui8>) -> (tensor<2x3xui8>, tensor<0x2xui8>) {
  %0 = stablehlo.slice %x [1:3, 0:6:2] : (tensor<5x6xui8>) -> tensor<2x3xui8>
  %1 = stablehlo.slice %x [5:5, 1:5:3] : (tensor<5x6xui8>) -> tensor<0x2xui8>
  return %0, %1 : tensor<2x3xui8>, tensor<0x2xui8>
}

// CHECK-LABEL: func.func @pad(
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1], [2]]
// CHECK:         tcp.pad
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1], [2]]
// CHECK:         tcp.slice
// CHECK:         tcp.slice
// CHECK:         tcp.pad
// CHECK:         tcp.slice
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.pad
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.pad
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1], [2]]
// CHECK:         tcp.pad
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1], [2]]
// CHECK:         tcp.slice
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0], [1, 2]]
// CHECK:         tcp.pad
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0], [1, 2]]
// CHECK:         tcp.slice
// CHECK:         tcp.slice
// CHECK:         tcp.pad
// CHECK:         return
func.func @pad(%x: tensor<3x4xf32>, %v: tensor<f32>, %y: tensor<2xui8>, %w: tensor<ui8>, %e: tensor<0xf32>) -> (tensor<9x3xf32>, tensor<0xui8>, tensor<5xf32>, tensor<7x6xf32>) {
  %0 = stablehlo.pad %x, %v, low = [1, -1], high = [3, 0], interior = [1, 0] : (tensor<3x4xf32>, tensor<f32>) -> tensor<9x3xf32>
  %1 = stablehlo.pad %y, %w, low = [-1], high = [-1], interior = [0] : (tensor<2xui8>, tensor<ui8>) -> tensor<0xui8>
  %2 = stablehlo.pad %e, %v, low = [2], high = [3], interior = [4] : (tensor<0xf32>, tensor<f32>) -> tensor<5xf32>
  %3 = stablehlo.pad %x, %v, low = [-1, 0], high = [1, -4], interior = [2, 2] : (tensor<3x4xf32>, tensor<f32>) -> tensor<7x6xf32>
  return %0, %1, %2, %3 : tensor<9x3xf32>, tensor<0xui8>, tensor<5xf32>, tensor<7x6xf32>
}

// CHECK-LABEL: func.func @order(
// CHECK:         tcp.transpose {{.*}} {permutation = [1, 0]}
// CHECK:         tcp.reverse {{.*}} {axes = [0, 1]}
// CHECK:         return
func.func @order(%x: tensor<?x3xbf16>, %y: tensor<?x3xbf16>) -> (tensor<3x?xbf16>, tensor<?x3xbf16>) {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<?x3xbf16>) -> tensor<3x?xbf16>
  %1 = stablehlo.reverse %x, dims = [1, 0] : tensor<?x3xbf16>
  return %0, %1 : tensor<3x?xbf16>, tensor<?x3xbf16>
}

// CHECK-LABEL: func.func @concatenate(
// CHECK:         tcp.concat
// CHECK:         return
func.func @concatenate(%x: tensor<?x3xui8>, %y: tensor<?x2xui8>) -> (tensor<?x8xui8>) {
  %0 = stablehlo.concatenate %x, %y, %x, dim = 1 : (tensor<?x3xui8>, tensor<?x2xui8>, tensor<?x3xui8>) -> tensor<?x8xui8>
  return %0 : tensor<?x8xui8>
}

// CHECK-LABEL: func.func @dynamic_slice(
// CHECK:         tensor.extract
// CHECK:         arith.index_cast
// CHECK:         arith.maxsi
// CHECK:         arith.subi
// CHECK:         arith.minsi
// CHECK:         tensor.extract
// CHECK:         arith.index_cast
// CHECK:         arith.maxsi
// CHECK:         arith.minsi
// CHECK:         tcp.slice
// CHECK:         tensor.extract
// CHECK:         arith.index_cast
// CHECK:         arith.maxsi
// CHECK:         arith.subi
// CHECK:         arith.minsi
// CHECK:         tensor.extract
// CHECK:         arith.index_cast
// CHECK:         arith.maxsi
// CHECK:         arith.minsi
// CHECK:         tcp.slice
// CHECK:         return
func.func @dynamic_slice(%x: tensor<?x6xf32>, %i: tensor<i32>, %j: tensor<i32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = stablehlo.dynamic_slice %x, %i, %j, sizes = [2, 3] : (tensor<?x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  %1 = stablehlo.dynamic_slice %x, %j, %i, sizes = [2, 3] : (tensor<?x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @dynamic_update_slice(
// CHECK:         tensor.extract
// CHECK:         arith.index_cast
// CHECK:         arith.maxsi
// CHECK:         arith.subi
// CHECK:         arith.minsi
// CHECK:         tensor.extract
// CHECK:         arith.index_cast
// CHECK:         arith.maxsi
// CHECK:         arith.minsi
// CHECK:         tensor.insert_slice
// CHECK:         tensor.extract
// CHECK:         arith.index_cast
// CHECK:         arith.maxsi
// CHECK:         arith.subi
// CHECK:         arith.minsi
// CHECK:         tensor.extract
// CHECK:         arith.index_cast
// CHECK:         arith.maxsi
// CHECK:         arith.minsi
// CHECK:         tensor.insert_slice
// CHECK:         return
func.func @dynamic_update_slice(%x: tensor<?x6xf32>, %y: tensor<2x3xf32>, %i: tensor<i32>, %j: tensor<i32>) -> (tensor<?x6xf32>, tensor<?x6xf32>) {
  %0 = stablehlo.dynamic_update_slice %x, %y, %i, %j : (tensor<?x6xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<?x6xf32>
  %1 = stablehlo.dynamic_update_slice %x, %y, %j, %i : (tensor<?x6xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<?x6xf32>
  return %0, %1 : tensor<?x6xf32>, tensor<?x6xf32>
}

// CHECK-LABEL: func.func @get_dimension_size(
// CHECK:         arith.index_cast
// CHECK:         tensor.from_elements
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Signed>, out_int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.const
// CHECK:         return
func.func @get_dimension_size(%x: tensor<3x?xf32>) -> (tensor<i32>, tensor<i32>) {
  %0 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<3x?xf32>) -> tensor<i32>
  %1 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<3x?xf32>) -> tensor<i32>
  return %0, %1 : tensor<i32>, tensor<i32>
}

// XLA says of what it makes of top_k that it has the size that it has.

// CHECK-LABEL: func.func @set_dimension_size(
// CHECK-NEXT:    return %arg0
func.func @set_dimension_size(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %c = stablehlo.constant dense<2> : tensor<i32>
  %0 = stablehlo.set_dimension_size %x, %c, dim = 1 : (tensor<3x2xf32>, tensor<i32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// Sizes that are those of the operand stretch nothing.

// CHECK-LABEL: func.func @dynamic_broadcast_in_dim(
// CHECK:         tcp.transpose {{.*}} {permutation = [1, 0]}
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1], [2]]
// CHECK-NOT:     tcp.gather
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         return
func.func @dynamic_broadcast_in_dim(%x: tensor<?x?xf32>) -> (tensor<2x?x?xf32>) {
  %s0 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
  %s1 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
  %r0 = stablehlo.reshape %s0 : (tensor<i32>) -> tensor<1xi32>
  %r1 = stablehlo.reshape %s1 : (tensor<i32>) -> tensor<1xi32>
  %two = stablehlo.constant dense<2> : tensor<1xi32>
  %shape = stablehlo.concatenate %two, %r1, %r0, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %shape, dims = [2, 1] : (tensor<?x?xf32>, tensor<3xi32>) -> tensor<2x?x?xf32>
  return %0 : tensor<2x?x?xf32>
}

// CHECK-LABEL: func.func @dynamic_broadcast_in_dim_of_unknown_sizes(
// CHECK:         tensor.extract
// CHECK:         arith.index_cast
// CHECK:         arith.subi
// CHECK:         tcp.iota
// CHECK:         arith.index_cast
// CHECK:         tensor.from_elements
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.minimum {{.*}} {int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.gather
// CHECK:         return
func.func @dynamic_broadcast_in_dim_of_unknown_sizes(%x: tensor<?xf32>, %s: tensor<1xi64>) -> (tensor<?xf32>) {
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0] : (tensor<?xf32>, tensor<1xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @dynamic_reshape(
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         return
func.func @dynamic_reshape(%x: tensor<?x?xf32>, %s: tensor<1xi32>) -> (tensor<?xf32>) {
  %0 = stablehlo.dynamic_reshape %x, %s : (tensor<?x?xf32>, tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @dynamic_iota(
// CHECK:         tensor.extract
// CHECK:         arith.index_cast
// CHECK:         tcp.iota
// CHECK:         return
func.func @dynamic_iota(%s: tensor<2xi32>) -> (tensor<?x3xui8>) {
  %0 = stablehlo.dynamic_iota %s, dim = 1 : (tensor<2xi32>) -> tensor<?x3xui8>
  return %0 : tensor<?x3xui8>
}

// CHECK-LABEL: func.func @real_dynamic_slice(
// CHECK:         tensor.extract
// CHECK:         arith.index_cast
// CHECK:         tensor.extract
// CHECK:         arith.index_cast
// CHECK:         tensor.extract
// CHECK:         arith.index_cast
// CHECK:         arith.subi
// CHECK:         arith.ceildivsi
// CHECK:         tcp.slice
// CHECK:         return
func.func @real_dynamic_slice(%x: tensor<?xf32>, %b: tensor<1xi32>, %e: tensor<1xi32>, %s: tensor<1xi32>) -> (tensor<?xf32>) {
  %0 = stablehlo.real_dynamic_slice %x, %b, %e, %s : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @dynamic_pad(
// CHECK:         tensor.extract
// CHECK:         arith.index_cast
// CHECK:         tensor.extract
// CHECK:         arith.index_cast
// CHECK:         tensor.extract
// CHECK:         arith.index_cast
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         arith.addi
// CHECK:         arith.muli
// CHECK:         arith.subi
// CHECK:         arith.maxsi
// CHECK:         arith.subi
// CHECK:         arith.maxsi
// CHECK:         tcp.slice
// CHECK:         arith.maxsi
// CHECK:         tcp.pad
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         arith.subi
// CHECK:         arith.maxsi
// CHECK:         tcp.slice
// CHECK:         arith.subi
// CHECK:         arith.maxsi
// CHECK:         arith.subi
// CHECK:         arith.maxsi
// CHECK:         arith.addi
// CHECK:         arith.subi
// CHECK:         arith.maxsi
// CHECK:         tcp.slice
// CHECK:         arith.maxsi
// CHECK:         arith.maxsi
// CHECK:         tcp.pad
// CHECK:         return
func.func @dynamic_pad(%x: tensor<?xf32>, %v: tensor<f32>, %l: tensor<1xi32>, %h: tensor<1xi32>, %i: tensor<1xi32>) -> (tensor<?xf32>) {
  %0 = stablehlo.dynamic_pad %x, %v, %l, %h, %i : (tensor<?xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
