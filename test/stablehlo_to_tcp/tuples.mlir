// RUN: tcp-opt %s -stablehlo-split-tuples | FileCheck %s

// CHECK-LABEL: func.func @values(
// CHECK-NEXT:    %[[RESULTS:.*]]:2 = stablehlo.custom_call @Qr(%arg0) {backend_config = "", xla_shape = "(f32[4,3]{1,0}, f32[3]{0})"} : (tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>)
// CHECK-NEXT:    return %[[RESULTS]]#1, %[[RESULTS]]#0
func.func @values(%x: tensor<4x3xf32>) -> (tensor<3xf32>, tensor<4x3xf32>) {
  %0 = stablehlo.custom_call @Qr(%x) {backend_config = "", xla_shape = "(f32[4,3]{1,0}, f32[3]{0})"} : (tensor<4x3xf32>) -> tuple<tensor<4x3xf32>, tensor<3xf32>>
  %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<4x3xf32>, tensor<3xf32>>) -> tensor<4x3xf32>
  %2 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<4x3xf32>, tensor<3xf32>>) -> tensor<3xf32>
  return %2, %1 : tensor<3xf32>, tensor<4x3xf32>
}

// What is used as a tuple stays one.

// CHECK-LABEL: func.func @whole(
// CHECK:         -> tuple<tensor<3xf32>>
// CHECK:         stablehlo.get_tuple_element
func.func @whole(%x: tensor<3xf32>) -> (tuple<tensor<3xf32>>, tensor<3xf32>) {
  %0 = stablehlo.custom_call @f(%x) : (tensor<3xf32>) -> tuple<tensor<3xf32>>
  %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<3xf32>>) -> tensor<3xf32>
  return %0, %1 : tuple<tensor<3xf32>>, tensor<3xf32>
}
