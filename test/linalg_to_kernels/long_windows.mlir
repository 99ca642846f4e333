// RUN: tcp-opt %s '-form-fusion-groups=vector-bytes=64 vector-registers=32' '-build-kernels=vector-bytes=64 vector-registers=32' -canonicalize -cse -specialise-kernels -canonicalize -cse | FileCheck %s

// Of a window of many elements, as in the gradient of weights, the zeros are multiplied: each element would have
// products of its own.

#signal = affine_map<(o, c, k, n, t) -> (n, c, t + k)>
#slopes = affine_map<(o, c, k, n, t) -> (n, o, t)>
#weights = affine_map<(o, c, k, n, t) -> (o, c, k)>
#same = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// CHECK-LABEL: func.func private @conv_kernel(
// CHECK:         scf.for %{{.*}} = %c0 to %c256 step %c1 iter_args
// CHECK-COUNT-18:  arith.mulf
// CHECK-NOT:       arith.mulf
// CHECK:           scf.yield
func.func @long_windows(%x: tensor<8x16x256xf32>, %g: tensor<8x32x256xf32>) -> tensor<32x16x9xf32> {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0, 0, 4] high[0, 0, 4] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : f32
  } : tensor<8x16x256xf32> to tensor<8x16x264xf32>
  %e = tensor.empty() : tensor<32x16x9xf32>
  %z = linalg.generic {indexing_maps = [#same], iterator_types = ["parallel", "parallel", "parallel"]} outs(%e : tensor<32x16x9xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  } -> tensor<32x16x9xf32>
  %p = linalg.generic {indexing_maps = [#signal, #slopes, #weights], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%padded, %g : tensor<8x16x264xf32>, tensor<8x32x256xf32>) outs(%z : tensor<32x16x9xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<32x16x9xf32>
  return %p : tensor<32x16x9xf32>
}
