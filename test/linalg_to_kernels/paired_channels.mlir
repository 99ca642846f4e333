// RUN: tcp-opt %s '-pair-channels=vector-bytes=64 vector-registers=32 vector-dots=vdpbf16ps' -canonicalize -split-input-file | FileCheck %s
// RUN: tcp-opt %s '-pair-channels=vector-bytes=64 vector-registers=32' -canonicalize -split-input-file | FileCheck %s --check-prefix=WITHOUT
// RUN: tcp-opt %s '-pair-channels=vector-bytes=64 vector-registers=32 vector-dots=vdpbf16ps,tdpbf16ps' -canonicalize -split-input-file | FileCheck %s --check-prefix=ALL

// Channels are a plane from one another: an image has those of a pair side by side, before there are zeros around
// it, and the weights too. What multiplies two elements at once takes the last loop in one step.

#image = affine_map<(n, o, c, h, w, p, q) -> (n, c, h + p, w + q)>
#weight = affine_map<(n, o, c, h, w, p, q) -> (o, c, p, q)>
#out = affine_map<(n, o, c, h, w, p, q) -> (n, o, h, w)>
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>

// CHECK-DAG:   #[[LAST:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d2, d3)>
// CHECK-DAG:   #[[IMAGE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d2, d3 + d5, d4 + d6, d7)>
// CHECK-DAG:   #[[WEIGHT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d1, d2, d5, d6, d7)>
// CHECK-DAG:   #[[OUT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d3, d4)>
// CHECK-LABEL: func.func @padded(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<1x6x8x8xbf16>, %[[W:[^:]*]]: tensor<5x6x3x3xbf16>
// CHECK-DAG:     %[[PARTS:.*]] = tensor.expand_shape %[[X]] {{\[\[}}0], [1, 2], [3], [4]] output_shape [1, 3, 2, 8, 8]
// CHECK-DAG:     %[[PAIRS:.*]] = linalg.generic {indexing_maps = [#[[LAST]], #{{.*}}], {{.*}} ins(%[[PARTS]] : tensor<1x3x2x8x8xbf16>) outs(%{{.*}} : tensor<1x3x8x8x2xbf16>)
// CHECK-DAG:     %[[PADDED:.*]] = tensor.pad %[[PAIRS]] low[0, 0, 1, 1, 0] high[0, 0, 1, 1, 0]
// CHECK-DAG:     %[[OF_WEIGHTS:.*]] = linalg.generic {indexing_maps = [#[[LAST]], #{{.*}}], {{.*}} ins(%{{.*}} : tensor<5x3x2x3x3xbf16>) outs(%{{.*}} : tensor<5x3x3x3x2xbf16>)
// CHECK:         linalg.generic {indexing_maps = [#[[IMAGE]], #[[WEIGHT]], #[[OUT]]], {{.*}} "reduction"]} ins(%[[PADDED]], %[[OF_WEIGHTS]] : tensor<1x3x10x10x2xbf16>, tensor<5x3x3x3x2xbf16>)
// CHECK:         ^bb0(%[[A:.*]]: bf16, %[[B:.*]]: bf16, %[[S:.*]]: f32):
// CHECK-DAG:       arith.extf %[[A]] : bf16 to f32
// CHECK-DAG:       arith.extf %[[B]] : bf16 to f32

// On a CPU that multiplies matrices all channels are side by side, and the loop over them is the innermost.
// ALL-DAG:     #[[LAST:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d2 + d4, d3 + d5, d6)>
// ALL-DAG:     #[[WEIGHT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d6, d4, d5)>
// ALL-LABEL: func.func @padded(
// ALL-SAME:      %{{[^:]*}}: tensor<1x6x8x8xbf16>, %[[W:[^:]*]]: tensor<5x6x3x3xbf16>
// ALL:           %[[PADDED:.*]] = tensor.pad %{{.*}} low[0, 1, 1, 0] high[0, 1, 1, 0]
// ALL:           tensor<1x8x8x6xbf16> to tensor<1x10x10x6xbf16>
// ALL:           linalg.generic {indexing_maps = [#[[LAST]], #[[WEIGHT]], #{{.*}}], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%[[PADDED]], %[[W]] :

// WITHOUT-LABEL: func.func @padded(
// WITHOUT-NOT:   expand_shape
func.func @padded(%x: tensor<1x6x8x8xbf16>, %w: tensor<5x6x3x3xbf16> {plumbline.weight = "w"}, %y: tensor<1x5x8x8xf32>) -> tensor<1x5x8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x6x8x8xf32>
  %wide = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<1x6x8x8xbf16>) outs(%e : tensor<1x6x8x8xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %c = arith.extf %a : bf16 to f32
    linalg.yield %c : f32
  } -> tensor<1x6x8x8xf32>
  %padded = tensor.pad %wide low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x6x8x8xf32> to tensor<1x6x10x10xf32>
  %0 = linalg.generic {indexing_maps = [#image, #weight, #out], iterator_types = ["parallel", "parallel", "reduction", "parallel", "parallel", "reduction", "reduction"]} ins(%padded, %w : tensor<1x6x10x10xf32>, tensor<5x6x3x3xbf16>) outs(%y : tensor<1x5x8x8xf32>) {
  ^bb0(%a: f32, %b: bf16, %s: f32):
    %c = arith.extf %b : bf16 to f32
    %p = arith.mulf %a, %c : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x5x8x8xf32>
  return %0 : tensor<1x5x8x8xf32>
}

// -----

// Three channels make no pairs. Weights that are given in each call are laid out in it. Of the one channel of a
// result no vector is full.

#image = affine_map<(o, c, h, p) -> (c, h + p)>
#weight = affine_map<(o, c, h, p) -> (o, c, p)>
#out = affine_map<(o, c, h, p) -> (o, h)>
#id = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: func.func @three(
// CHECK-NOT:     expand_shape
func.func @three(%x: tensor<3x200xbf16>, %w: tensor<5x3x3xbf16> {plumbline.weight = "w"}, %y: tensor<5x198xf32>) -> tensor<5x198xf32> {
  %e = tensor.empty() : tensor<3x200xf32>
  %wide = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<3x200xbf16>) outs(%e : tensor<3x200xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %c = arith.extf %a : bf16 to f32
    linalg.yield %c : f32
  } -> tensor<3x200xf32>
  %0 = linalg.generic {indexing_maps = [#image, #weight, #out], iterator_types = ["parallel", "reduction", "parallel", "reduction"]} ins(%wide, %w : tensor<3x200xf32>, tensor<5x3x3xbf16>) outs(%y : tensor<5x198xf32>) {
  ^bb0(%a: f32, %b: bf16, %s: f32):
    %c = arith.extf %b : bf16 to f32
    %p = arith.mulf %a, %c : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<5x198xf32>
  return %0 : tensor<5x198xf32>
}

// ALL-LABEL:   func.func @given(
// ALL:           ins(%{{.*}}, %{{.*}} : tensor<2x200x2xbf16>, tensor<5x2x3x2xbf16>)
// CHECK-LABEL: func.func @given(
// CHECK-DAG:     tensor.expand_shape %{{.*}} output_shape [2, 2, 200]
// CHECK-DAG:     tensor.expand_shape %{{.*}} output_shape [5, 2, 2, 3]
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<2x200x2xbf16>, tensor<5x2x3x2xbf16>)
func.func @given(%x: tensor<4x200xbf16>, %w: tensor<5x4x3xbf16>, %y: tensor<5x198xf32>) -> tensor<5x198xf32> {
  %e = tensor.empty() : tensor<4x200xf32>
  %wide = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x200xbf16>) outs(%e : tensor<4x200xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %c = arith.extf %a : bf16 to f32
    linalg.yield %c : f32
  } -> tensor<4x200xf32>
  %0 = linalg.generic {indexing_maps = [#image, #weight, #out], iterator_types = ["parallel", "reduction", "parallel", "reduction"]} ins(%wide, %w : tensor<4x200xf32>, tensor<5x4x3xbf16>) outs(%y : tensor<5x198xf32>) {
  ^bb0(%a: f32, %b: bf16, %s: f32):
    %c = arith.extf %b : bf16 to f32
    %p = arith.mulf %a, %c : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<5x198xf32>
  return %0 : tensor<5x198xf32>
}

// CHECK-LABEL: func.func @one(
// CHECK-NOT:     expand_shape
func.func @one(%x: tensor<4x200xbf16>, %w: tensor<1x4x3xbf16>, %y: tensor<1x198xf32>) -> tensor<1x198xf32> {
  %e = tensor.empty() : tensor<4x200xf32>
  %wide = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x200xbf16>) outs(%e : tensor<4x200xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %c = arith.extf %a : bf16 to f32
    linalg.yield %c : f32
  } -> tensor<4x200xf32>
  %0 = linalg.generic {indexing_maps = [#image, #weight, #out], iterator_types = ["parallel", "reduction", "parallel", "reduction"]} ins(%wide, %w : tensor<4x200xf32>, tensor<1x4x3xbf16>) outs(%y : tensor<1x198xf32>) {
  ^bb0(%a: f32, %b: bf16, %s: f32):
    %c = arith.extf %b : bf16 to f32
    %p = arith.mulf %a, %c : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x198xf32>
  return %0 : tensor<1x198xf32>
}
