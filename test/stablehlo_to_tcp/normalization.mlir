// RUN: tcp-opt %s -convert-stablehlo-to-tcp | FileCheck %s

// CHECK-LABEL: func.func @batch_norm_inference(
// CHECK:         tcp.const
// CHECK:         tcp.add
// CHECK:         tcp.sqrt
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.sub
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.divf
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.mul
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.add
// CHECK:         return
func.func @batch_norm_inference(%x: tensor<?x3xf32>, %s: tensor<3xf32>, %o: tensor<3xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>) -> tensor<?x3xf32> {
  %0 = "stablehlo.batch_norm_inference"(%x, %s, %o, %m, %v) {epsilon = 0.125 : f32, feature_index = 1 : i64} : (tensor<?x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @batch_norm_training(
// CHECK:         tcp.cast
// CHECK:         tcp.cast
// CHECK:         tcp.cast
// CHECK:         tcp.reduce {{.*}} {accumulation_type = f64, axes = [0], combiner = #tcp<combiner sum>}
// CHECK:         arith.index_cast
// CHECK:         tensor.from_elements
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Signed>}
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.divf
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.sub
// CHECK:         tcp.mul
// CHECK:         tcp.reduce {{.*}} {accumulation_type = f64, axes = [0], combiner = #tcp<combiner sum>}
// CHECK:         arith.index_cast
// CHECK:         tensor.from_elements
// CHECK:         tcp.cast {{.*}} {in_int_signedness = #tcp<signedness Signed>}
// CHECK:         tensor.expand_shape
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.divf
// CHECK:         tcp.const
// CHECK:         tcp.add
// CHECK:         tcp.sqrt
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.sub
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.divf
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.mul
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]]
// CHECK:         tcp.broadcast {{.*}} {axes = [0]}
// CHECK:         tcp.add
// CHECK:         tcp.cast
// CHECK:         tcp.cast
// CHECK:         tcp.cast
// CHECK:         return
func.func @batch_norm_training(%x: tensor<?x3xf16>, %s: tensor<3xf16>, %o: tensor<3xf16>) -> (tensor<?x3xf16>, tensor<3xf16>, tensor<3xf16>) {
  %0:3 = "stablehlo.batch_norm_training"(%x, %s, %o) {epsilon = 0.125 : f32, feature_index = 1 : i64} : (tensor<?x3xf16>, tensor<3xf16>, tensor<3xf16>) -> (tensor<?x3xf16>, tensor<3xf16>, tensor<3xf16>)
  return %0#0, %0#1, %0#2 : tensor<?x3xf16>, tensor<3xf16>, tensor<3xf16>
}
