// RUN: tcp-opt %s -convert-stablehlo-to-tcp | FileCheck %s

// CHECK-LABEL: func.func @matmul_f32_f32_f32(
// CHECK-NOT:     _shape
// CHECK:         tcp.matmul
// CHECK-NOT:     _shape
// CHECK:         return
func.func @matmul_f32_f32_f32(%a: tensor<?x5xf32>, %b: tensor<5x?xf32>) -> (tensor<?x?xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<?x5xf32>, tensor<5x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @matmul_f64_f64_f64(
// CHECK:         tcp.matmul
// CHECK:         return
func.func @matmul_f64_f64_f64(%a: tensor<?x5xf64>, %b: tensor<5x?xf64>) -> (tensor<?x?xf64>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<?x5xf64>, tensor<5x?xf64>) -> tensor<?x?xf64>
  return %0 : tensor<?x?xf64>
}

// CHECK-LABEL: func.func @matmul_bf16_bf16_bf16(
// CHECK:         tcp.matmul
// CHECK:         return
func.func @matmul_bf16_bf16_bf16(%a: tensor<?x5xbf16>, %b: tensor<5x?xbf16>) -> (tensor<?x?xbf16>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<?x5xbf16>, tensor<5x?xbf16>) -> tensor<?x?xbf16>
  return %0 : tensor<?x?xbf16>
}

// CHECK-LABEL: func.func @matmul_bf16_bf16_f32(
// CHECK:         tcp.cast
// CHECK:         tcp.cast
// CHECK:         tcp.matmul
// CHECK:         return
func.func @matmul_bf16_bf16_f32(%a: tensor<?x5xbf16>, %b: tensor<5x?xbf16>) -> (tensor<?x?xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<?x5xbf16>, tensor<5x?xbf16>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @matmul_f16_f16_f32(
// CHECK:         tcp.cast
// CHECK:         tcp.cast
// CHECK:         tcp.matmul
// CHECK:         return
func.func @matmul_f16_f16_f32(%a: tensor<?x5xf16>, %b: tensor<5x?xf16>) -> (tensor<?x?xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<?x5xf16>, tensor<5x?xf16>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @matmul_i32_i32_i32(
// CHECK:         tcp.matmul
// CHECK:         return
func.func @matmul_i32_i32_i32(%a: tensor<?x5xi32>, %b: tensor<5x?xi32>) -> (tensor<?x?xi32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<?x5xi32>, tensor<5x?xi32>) -> tensor<?x?xi32>
  return %0 : tensor<?x?xi32>
}

// CHECK-LABEL: func.func @matmul_i8_i8_i32(
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Signed>, out_int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Signed>, out_int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.matmul
// CHECK:         return
func.func @matmul_i8_i8_i32(%a: tensor<?x5xi8>, %b: tensor<5x?xi8>) -> (tensor<?x?xi32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<?x5xi8>, tensor<5x?xi8>) -> tensor<?x?xi32>
  return %0 : tensor<?x?xi32>
}

// CHECK-LABEL: func.func @matmul_ui8_ui8_ui32(
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Unsigned>, out_int_signedness = #tcp<signedness Unsigned>}
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Unsigned>, out_int_signedness = #tcp<signedness Unsigned>}
// CHECK:         tcp.matmul
// CHECK:         return
func.func @matmul_ui8_ui8_ui32(%a: tensor<?x5xui8>, %b: tensor<5x?xui8>) -> (tensor<?x?xui32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<?x5xui8>, tensor<5x?xui8>) -> tensor<?x?xui32>
  return %0 : tensor<?x?xui32>
}

// CHECK-LABEL: func.func @matmul_i1_i1_i1(
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Signless>, out_int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Signless>, out_int_signedness = #tcp<signedness Signed>}
// CHECK:         tcp.matmul
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Signed>, out_int_signedness = #tcp<signedness Signless>}
// CHECK:         return
func.func @matmul_i1_i1_i1(%a: tensor<?x5xi1>, %b: tensor<5x?xi1>) -> (tensor<?x?xi1>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<?x5xi1>, tensor<5x?xi1>) -> tensor<?x?xi1>
  return %0 : tensor<?x?xi1>
}

// CHECK-LABEL: func.func @other_way_round_f32_f32_f32(
// CHECK:         tcp.transpose {{.*}} {permutation = [1, 0]}
// CHECK:         tcp.transpose {{.*}} {permutation = [1, 0]}
// CHECK:         tcp.matmul
// CHECK:         return
func.func @other_way_round_f32_f32_f32(%a: tensor<5x?xf32>, %b: tensor<?x5xf32>) -> (tensor<?x?xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [1] : (tensor<5x?xf32>, tensor<?x5xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @batch_f32_f32_f32(
// CHECK:         tcp.batch_matmul
// CHECK:         return
func.func @batch_f32_f32_f32(%a: tensor<?x?x5xf32>, %b: tensor<?x5x2xf32>) -> (tensor<?x?x2xf32>) {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<?x?x5xf32>, tensor<?x5x2xf32>) -> tensor<?x?x2xf32>
  return %0 : tensor<?x?x2xf32>
}

// CHECK-LABEL: func.func @several_of_each_f32_f32_f32(
// CHECK:         tcp.transpose {{.*}} {permutation = [3, 0, 1, 5, 4, 2]}
// CHECK:         tcp.transpose {{.*}} {permutation = [1, 2, 0, 4, 3, 5]}
// CHECK:         tcp.batch_matmul
// CHECK:         return
func.func @several_of_each_f32_f32_f32(%a: tensor<2x?x5x?x3x2xf32>, %b: tensor<3x?x2x4x5x2xf32>) -> (tensor<?x2x?x2x4x2xf32>) {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [3, 0] x [1, 2], contracting_dims = [4, 2] x [0, 4] : (tensor<2x?x5x?x3x2xf32>, tensor<3x?x2x4x5x2xf32>) -> tensor<?x2x?x2x4x2xf32>
  return %0 : tensor<?x2x?x2x4x2xf32>
}

// CHECK-LABEL: func.func @vectors_f32_f32_f32(
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.matmul
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tensor.collapse_shape
// CHECK:         return
func.func @vectors_f32_f32_f32(%a: tensor<5xf32>, %b: tensor<5xf32>) -> (tensor<f32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<5xf32>, tensor<5xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @outer_product_f32_f32_f32(
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.matmul
// CHECK:         return
func.func @outer_product_f32_f32_f32(%a: tensor<?xf32>, %b: tensor<?xf32>) -> (tensor<?x?xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [] x [] : (tensor<?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @scaled_f32_f32_f32(
// CHECK:         tensor.expand_shape
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         arith.muli
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.matmul
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         return
func.func @scaled_f32_f32_f32(%a: tensor<f32>, %b: tensor<?x2xf32>) -> (tensor<?x2xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [] x [] : (tensor<f32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}

// CHECK-LABEL: func.func @batched_elements_f32_f32_f32(
// CHECK:         arith.muli
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1, 2]]
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1, 2]]
// CHECK:         tcp.batch_matmul
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1, 2]]
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         return
func.func @batched_elements_f32_f32_f32(%a: tensor<?x2xf32>, %b: tensor<?x2xf32>) -> (tensor<?x2xf32>) {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0, 1] x [0, 1], contracting_dims = [] x [] : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}
