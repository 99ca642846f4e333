// RUN: tcp-opt %s '-lay-channels-last=vector-bytes=32 vector-registers=16 vector-dots=vpmaddwd' -canonicalize | FileCheck %s --check-prefixes=CHECK,WORDS,PLANES
// RUN: tcp-opt %s '-lay-channels-last=vector-bytes=64 vector-registers=32 vector-dots=vpdpbusd' -canonicalize | FileCheck %s --check-prefixes=CHECK,UNSIGNED,PLANES
// RUN: tcp-opt %s '-lay-channels-last=vector-bytes=4 vector-registers=32 vector-dots=smlad' -canonicalize | FileCheck %s --check-prefixes=CHECK,BYTES,PLANES
// RUN: tcp-opt %s '-lay-channels-last=vector-bytes=16 vector-registers=12' -canonicalize | FileCheck %s --check-prefix=WITHOUT
// RUN: tcp-opt %s '-lay-channels-last=vector-bytes=4 vector-registers=32' -canonicalize | FileCheck %s --check-prefixes=WITHOUT,PLANES

// What is rounded to bytes is so with its channels last. Before there is anything around it, it becomes what the
// instruction takes: words, or bytes without a sign, which the convolution says are 128 more. The loop over channels
// is innermost, and the sums are transposed back for who reads them.

// CHECK-DAG:   #[[SAME:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK-DAG:   #[[LAST:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>
// CHECK-DAG:   #[[IMAGE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4, d2 + d5, d6)>
// CHECK-DAG:   #[[WEIGHT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d6, d4, d5)>
// CHECK-DAG:   #[[OUT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
// PLANES-DAG:   #[[OF_PLANES:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 * 2 + d4, d2 * 2 + d5, d3)>
// PLANES-DAG:   #[[WINDOW:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5, d3)>
// PLANES-DAG:   #[[RESULT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>
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
#strided = affine_map<(n, c, h, w, p, q) -> (n, c, 2 * h + p, 2 * w + q)>
#window = affine_map<(n, c, h, w, p, q) -> (c, p, q)>
#sums = affine_map<(n, c, h, w, p, q) -> (n, c, h, w)>
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

// Where each channel has a result of its own, a vector of them is multiplied by one of weights, which lie so when the
// library is built. That takes no instruction of its own. The image stays one of bytes.

// PLANES-LABEL: func.func @planes(
// PLANES-SAME:    , %[[W:[^:]*]]: tensor<3x3x8xi8> {plumbline.layout = "{{[^"]*}}", plumbline.weight = "w"}
// PLANES:         %[[ROUNDED:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<1x7x7x8xi8>)
// PLANES:           arith.fptosi
// PLANES:         %[[PADDED:.*]] = tensor.pad %[[ROUNDED]] low[0, 1, 1, 0] high[0, 1, 1, 0]
// PLANES:           tensor.yield %c3_i8
// PLANES:         %[[SUMS:.*]] = linalg.generic {indexing_maps = [#[[OF_PLANES]], #[[WINDOW]], #[[RESULT]]], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%[[PADDED]], %[[W]] : tensor<1x9x9x8xi8>, tensor<3x3x8xi8>)
// PLANES:           arith.extsi %{{.*}} : i8 to i32
// PLANES:           arith.extsi %{{.*}} : i8 to i32
// PLANES:         linalg.generic {{.*}} ins(%[[SUMS]] : tensor<1x4x4x8xi32>) outs(%{{.*}} : tensor<1x8x4x4xi32>)

func.func @planes(%x: tensor<1x8x7x7xf32>, %w: tensor<8x3x3xi8> {plumbline.weight = "w"}) -> tensor<1x8x4x4xi32> {
  %zero = arith.constant 0 : i32
  %three = arith.constant 3 : i8
  %bytes = tensor.empty() : tensor<1x8x7x7xi8>
  %image = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<1x8x7x7xf32>) outs(%bytes : tensor<1x8x7x7xi8>) {
  ^bb0(%a: f32, %o: i8):
    %r = arith.fptosi %a : f32 to i8
    linalg.yield %r : i8
  } -> tensor<1x8x7x7xi8>
  %padded = tensor.pad %image low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %three : i8
  } : tensor<1x8x7x7xi8> to tensor<1x8x9x9xi8>
  %e = tensor.empty() : tensor<1x8x9x9xi32>
  %wide = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%padded : tensor<1x8x9x9xi8>) outs(%e : tensor<1x8x9x9xi32>) {
  ^bb0(%a: i8, %o: i32):
    %c = arith.extsi %a : i8 to i32
    linalg.yield %c : i32
  } -> tensor<1x8x9x9xi32>
  %f = tensor.empty() : tensor<8x3x3xi32>
  %of_weights = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%w : tensor<8x3x3xi8>) outs(%f : tensor<8x3x3xi32>) {
  ^bb0(%a: i8, %o: i32):
    %c = arith.extsi %a : i8 to i32
    linalg.yield %c : i32
  } -> tensor<8x3x3xi32>
  %g = tensor.empty() : tensor<1x8x4x4xi32>
  %y = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%g : tensor<1x8x4x4xi32>) {
  ^bb0(%o: i32):
    linalg.yield %zero : i32
  } -> tensor<1x8x4x4xi32>
  %0 = linalg.generic {indexing_maps = [#strided, #window, #sums], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%wide, %of_weights : tensor<1x8x9x9xi32>, tensor<8x3x3xi32>) outs(%y : tensor<1x8x4x4xi32>) {
  ^bb0(%a: i32, %b: i32, %s: i32):
    %p = arith.muli %a, %b : i32
    %t = arith.addi %s, %p : i32
    linalg.yield %t : i32
  } -> tensor<1x8x4x4xi32>
  return %0 : tensor<1x8x4x4xi32>
}
