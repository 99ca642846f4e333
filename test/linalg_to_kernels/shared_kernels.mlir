// RUN: tcp-opt %s -build-kernels | FileCheck %s

// Groups that compute the same have one kernel, and those have their own that differ by a number alone.

#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @main(
// CHECK:         call @plus(
// CHECK:         call @plus(
// CHECK:         call @plus_0(
func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = call @one(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @one_again(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = call @two(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

func.func private @one(%x: tensor<8xf32>) -> tensor<8xf32> attributes {plumbline.group = "plus"} {
  %c = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %c : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

func.func private @one_again(%x: tensor<8xf32>) -> tensor<8xf32> attributes {plumbline.group = "plus"} {
  %c = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %c : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

func.func private @two(%x: tensor<8xf32>) -> tensor<8xf32> attributes {plumbline.group = "plus"} {
  %c = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %c : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK:       func.func private @plus(
// CHECK:       func.func private @plus_0(
// CHECK-NOT:   func.func
