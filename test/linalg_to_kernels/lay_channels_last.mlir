// RUN: tcp-opt %s '-lay-channels-last=vector-bytes=32 vector-registers=16 vector-dots=vpmaddwd' -canonicalize | FileCheck %s --check-prefixes=CHECK,WORDS
// RUN: tcp-opt %s '-lay-channels-last=vector-bytes=64 vector-registers=32 vector-dots=vpdpbusd' -canonicalize | FileCheck %s --check-prefixes=CHECK,UNSIGNED
// RUN: tcp-opt %s '-lay-channels-last=vector-bytes=4 vector-registers=32 vector-dots=smlad' -canonicalize | FileCheck %s --check-prefixes=CHECK,BYTES
// RUN: tcp-opt %s '-lay-channels-last=vector-bytes=16 vector-registers=12' -canonicalize | FileCheck %s --check-prefix=WITHOUT

// What is rounded to bytes is so with its channels last. Before there is anything around it, it becomes what the
// instruction takes: words, or bytes without a sign, which the convolution says are 128 more. The loop over channels
// is innermost, and the sums are transposed back for who reads them.

// CHECK-DAG:   #[[SAME:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK-DAG:   #[[LAST:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>
// CHECK-DAG:   #[[IMAGE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4, d2 + d5, d6)>
// CHECK-DAG:   #[[WEIGHT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d6, d4, d5)>
// CHECK-DAG:   #[[OUT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
// CHECK-LABEL: func.func @rounded(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<1x8x6x6xf32>, %[[W:[^:]*]]: tensor<12x8x3x3xi8>
// CHECK:         %[[ROUNDED:.*]] = linalg.generic {indexing_maps = [#[[SAME]], #[[LAST]]], {{.*}} ins(%[[X]] :
// WORDS:         %[[WIDE:.*]] = linalg.generic {{.*}} ins(%[[ROUNDED]] : tensor<1x6x6x8xi8>)
// WORDS:           arith.extsi %{{.*}} : i8 to i16
// WORDS:         %[[PADDED:.*]] = tensor.pad %[[WIDE]] low[0, 1, 1, 0] high[0, 1, 1, 0]
// WORDS:           tensor.yield %c3_i16
// UNSIGNED:      %[[MORE:.*]] = linalg.generic {{.*}} ins(%[[ROUNDED]] : tensor<1x6x6x8xi8>)
// UNSIGNED:        arith.xori %{{.*}}, %c-128_i8
// UNSIGNED:      %[[PADDED:.*]] = tensor.pad %[[MORE]] low[0, 1, 1, 0] high[0, 1, 1, 0]
// UNSIGNED:        tensor.yield %c-125_i8
// BYTES:         %[[PADDED:.*]] = tensor.pad %[[ROUNDED]] low[0, 1, 1, 0] high[0, 1, 1, 0]
// BYTES:           tensor.yield %c3_i8
// CHECK:         %[[SUMS:.*]] = linalg.generic {indexing_maps = [#[[IMAGE]], #[[WEIGHT]], #[[OUT]]], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%[[PADDED]], %[[W]] :
// CHECK:         ^bb0(%[[A:.*]]: i{{8|16}}, %[[B:.*]]: i8, %{{.*}}: i32):
// UNSIGNED:        %[[SIGNED:.*]] = arith.xori %[[A]], %c-128_i8
// UNSIGNED:        arith.extsi %[[SIGNED]] : i8 to i32
// WORDS:           arith.extsi %[[A]] : i16 to i32
// BYTES:           arith.extsi %[[A]] : i8 to i32
// CHECK:           arith.extsi %[[B]] : i8 to i32
// CHECK:         linalg.generic {indexing_maps = [#[[LAST]], #[[SAME]]], {{.*}} ins(%[[SUMS]] : tensor<1x6x6x12xi32>) outs(%{{.*}} : tensor<1x12x6x6xi32>)

// WITHOUT-LABEL: func.func @rounded(
// WITHOUT:       linalg.generic {{.*}} : tensor<1x8x8x8xi32>, tensor<12x8x3x3xi32>) outs(%{{.*}} : tensor<1x12x6x6xi32>)

#image = affine_map<(n, o, c, h, w, p, q) -> (n, c, h + p, w + q)>
#weight = affine_map<(n, o, c, h, w, p, q) -> (o, c, p, q)>
#out = affine_map<(n, o, c, h, w, p, q) -> (n, o, h, w)>
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
func.func @rounded(%x: tensor<1x8x6x6xf32>, %w: tensor<12x8x3x3xi8> {plumbline.weight = "w"}) -> tensor<1x12x6x6xi32> {
  %zero = arith.constant 0 : i32
  %three = arith.constant 3 : i8
  %bytes = tensor.empty() : tensor<1x8x6x6xi8>
  %image = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<1x8x6x6xf32>) outs(%bytes : tensor<1x8x6x6xi8>) {
  ^bb0(%a: f32, %o: i8):
    %r = arith.fptosi %a : f32 to i8
    linalg.yield %r : i8
  } -> tensor<1x8x6x6xi8>
  %padded = tensor.pad %image low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %three : i8
  } : tensor<1x8x6x6xi8> to tensor<1x8x8x8xi8>
  %e = tensor.empty() : tensor<1x8x8x8xi32>
  %wide = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%padded : tensor<1x8x8x8xi8>) outs(%e : tensor<1x8x8x8xi32>) {
  ^bb0(%a: i8, %o: i32):
    %c = arith.extsi %a : i8 to i32
    linalg.yield %c : i32
  } -> tensor<1x8x8x8xi32>
  %f = tensor.empty() : tensor<12x8x3x3xi32>
  %of_weights = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%w : tensor<12x8x3x3xi8>) outs(%f : tensor<12x8x3x3xi32>) {
  ^bb0(%a: i8, %o: i32):
    %c = arith.extsi %a : i8 to i32
    linalg.yield %c : i32
  } -> tensor<12x8x3x3xi32>
  %g = tensor.empty() : tensor<1x12x6x6xi32>
  %y = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%g : tensor<1x12x6x6xi32>) {
  ^bb0(%o: i32):
    linalg.yield %zero : i32
  } -> tensor<1x12x6x6xi32>
  %0 = linalg.generic {indexing_maps = [#image, #weight, #out], iterator_types = ["parallel", "parallel", "reduction", "parallel", "parallel", "reduction", "reduction"]} ins(%wide, %of_weights : tensor<1x8x8x8xi32>, tensor<12x8x3x3xi32>) outs(%y : tensor<1x12x6x6xi32>) {
  ^bb0(%a: i32, %b: i32, %s: i32):
    %p = arith.muli %a, %b : i32
    %t = arith.addi %s, %p : i32
    linalg.yield %t : i32
  } -> tensor<1x12x6x6xi32>
  return %0 : tensor<1x12x6x6xi32>
}
