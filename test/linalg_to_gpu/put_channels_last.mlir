// RUN: tcp-opt %s -put-channels-last | FileCheck %s

#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#image = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5, d3 + d6)>
#weight = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>
#result = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>

// The image is turned about before it is padded, and the weight when the program is built.
// CHECK-DAG:   #[[IMAGE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d2 + d5, d3 + d6, d4)>
// CHECK-DAG:   #[[WEIGHT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d5, d6, d4)>
// CHECK-LABEL: func.func @convolution(
// CHECK-SAME:      %[[W:.*]]: tensor<32x3x3x16xf16> {plumbline.layout = "view_0_axis_32by144_axis_3by3_axis_3by1_axis_16by9", plumbline.weight = "w"}
// CHECK-SAME:      %[[X:.*]]: tensor<1x16x8x8xf16>)
// CHECK:         %[[LINES:.*]] = tensor.collapse_shape %[[X]] {{.*}} into tensor<1x16x64xf16>
// CHECK:         %[[TURNED:.*]] = linalg.generic {{.*}} ins(%[[LINES]] : {{.*}}) outs(%{{.*}} : tensor<1x64x16xf16>)
// CHECK:         %[[IMAGES:.*]] = tensor.expand_shape %[[TURNED]] {{.*}} into tensor<1x8x8x16xf16>
// CHECK:         %[[PADDED:.*]] = tensor.insert_slice %[[IMAGES]] into %{{.*}}[0, 1, 1, 0] [1, 8, 8, 16] [1, 1, 1, 1]
// CHECK:         %[[WIDE:.*]] = linalg.generic {{.*}} ins(%[[PADDED]] :
// CHECK:         %[[WIDE_W:.*]] = linalg.generic {{.*}} ins(%[[W]] :
// CHECK:         linalg.generic {indexing_maps = [#[[IMAGE]], #[[WEIGHT]], {{.*}} ins(%[[WIDE]], %[[WIDE_W]] :
func.func @convolution(%w: tensor<32x16x3x3xf16> {plumbline.weight = "w"}, %x: tensor<1x16x8x8xf16>) -> tensor<1x32x8x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<1x16x10x10xf16>
  %padded = tensor.insert_slice %x into %zeros[0, 0, 1, 1] [1, 16, 8, 8] [1, 1, 1, 1] : tensor<1x16x8x8xf16> into tensor<1x16x10x10xf16>
  %e = tensor.empty() : tensor<1x16x10x10xf32>
  %images = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%padded : tensor<1x16x10x10xf16>) outs(%e : tensor<1x16x10x10xf32>) {
  ^bb0(%in: f16, %out: f32):
    %0 = arith.extf %in : f16 to f32
    linalg.yield %0 : f32
  } -> tensor<1x16x10x10xf32>
  %f = tensor.empty() : tensor<32x16x3x3xf32>
  %weights = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%w : tensor<32x16x3x3xf16>) outs(%f : tensor<32x16x3x3xf32>) {
  ^bb0(%in: f16, %out: f32):
    %0 = arith.extf %in : f16 to f32
    linalg.yield %0 : f32
  } -> tensor<32x16x3x3xf32>
  %sums = arith.constant dense<0.0> : tensor<1x32x8x8xf32>
  %result = linalg.generic {indexing_maps = [#image, #weight, #result], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%images, %weights : tensor<1x16x10x10xf32>, tensor<32x16x3x3xf32>) outs(%sums : tensor<1x32x8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<1x32x8x8xf32>
  return %result : tensor<1x32x8x8xf32>
}
