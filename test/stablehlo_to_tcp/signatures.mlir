// RUN: tcp-opt %s -stablehlo-note-signatures | FileCheck %s

// Complex numbers, integers without a sign, and names that only places have; what frameworks note is left out.

// CHECK:       module {
// CHECK-LABEL:   func.func public @noted(
// CHECK-SAME:      tensor<2xcomplex<f32>>, %{{.*}}: tensor<ui16>, %{{.*}}: tensor<i1> {own.note}) -> (tensor<i8>, tensor<i8>)
// CHECK-SAME:      plumbline.signature = {inputs = [{name = "params_w", type = "c64"}, {name = "arg1", type = "u16"}, {name = "arg2", type = "i1"}],
// CHECK-SAME:      outputs = [{name = "out0", type = "i8"}, {name = "aux_count", type = "i8"}]}
// CHECK-LABEL:   func.func private @inner(
// CHECK-NOT:       plumbline.signature
module attributes {jax.uses_shape_polymorphism = false, mhlo.num_replicas = 1 : i32} {
  func.func public @noted(%0: tensor<2xcomplex<f32>> {mhlo.sharding = "{replicated}"} loc("params['w']"), %1: tensor<ui16>, %2: tensor<i1> {own.note}) -> (tensor<i8> {jax.result_info = "result[0]"}, tensor<i8> {jax.result_info = "result.aux['count']"}) {
    %3 = call @inner(%1) : (tensor<ui16>) -> tensor<i8>
    return %3, %3 : tensor<i8>, tensor<i8>
  }
  func.func private @inner(%0: tensor<ui16>) -> tensor<i8> {
    %1 = stablehlo.convert %0 : (tensor<ui16>) -> tensor<i8>
    return %1 : tensor<i8>
  }
}
