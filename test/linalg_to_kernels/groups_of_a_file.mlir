// RUN: tcp-opt %s -linalg-to-kernels-pipeline -verify-diagnostics
// RUN: tcp-opt %s -linalg-to-gpu-pipeline -verify-diagnostics

// What a file says is a group is none by the time that kernels are built: its ops are in groups of their own.

// expected-error @below {{'func.func' op has plumbline.group, which only a function that consists of computations on tensors has; leave it out, groups are formed of what a function computes}}
func.func private @negated(%x: tensor<4xf32>) -> tensor<4xf32> attributes {plumbline.group = "negated"} {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.negf %a : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @calls(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @negated(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
