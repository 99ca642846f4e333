// RUN: tcp-opt %s -form-fusion-groups | FileCheck %s

// What takes the elements of a row from two rows in turns, as a transposed convolution does, is not computed where it is
// transposed: vectors of both are interleaved, and squares of the result transposed.

#turns = affine_map<(d0, d1) -> (d0, d1 floordiv 2)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>

// CHECK-LABEL: func.func @transposed(
// CHECK:         %[[DEALT:.*]] = call @{{.*}}(%arg0, %arg1) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x64xf32>
// CHECK:         call @copy_kernel{{.*}}(%[[DEALT]]) : (tensor<64x64xf32>) -> tensor<64x64xf32>
func.func @transposed(%x: tensor<64x32xf32>, %y: tensor<64x32xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : index
  %e = tensor.empty() : tensor<64x64xf32>
  %0 = linalg.generic {indexing_maps = [#turns, #turns, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<64x32xf32>, tensor<64x32xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %i = linalg.index 1 : index
    %r = arith.remui %i, %two : index
    %is = arith.cmpi eq, %r, %zero : index
    %s = arith.select %is, %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<64x64xf32>
  %1 = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}
