// RUN: tcp-opt %s -tcp-to-llvm-pipeline | FileCheck %s

// Complex numbers may be inside of a program that is written as TCP, as elements of linalg's ops,
// made of and taken apart into real ones. Machine code has pairs of them.
// CHECK-LABEL: llvm.func {{.*}}@square_imaginary
// CHECK-NOT:   complex<
#map = affine_map<(d0) -> (d0)>
func.func @square_imaginary(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %empty = tensor.empty() : tensor<4xcomplex<f32>>
  %z = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%empty : tensor<4xcomplex<f32>>) {
  ^bb0(%re: f32, %im: f32, %out: complex<f32>):
    %number = complex.create %re, %im : complex<f32>
    %square = complex.mul %number, %number : complex<f32>
    linalg.yield %square : complex<f32>
  } -> tensor<4xcomplex<f32>>
  %real = tensor.empty() : tensor<4xf32>
  %result = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%z : tensor<4xcomplex<f32>>) outs(%real : tensor<4xf32>) {
  ^bb0(%square: complex<f32>, %out: f32):
    %im = complex.im %square : complex<f32>
    linalg.yield %im : f32
  } -> tensor<4xf32>
  return %result : tensor<4xf32>
}
