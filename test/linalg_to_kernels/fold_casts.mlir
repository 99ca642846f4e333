// RUN: tcp-opt %s -fold-casts -split-input-file | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// A contraction widens what it multiplies itself, wherever that is read from.

// CHECK-DAG:   #[[MK:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG:   #[[NK:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG:   #[[MN:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @both(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<50x64xbf16>, %[[W:[^:]*]]: tensor<40x64xbf16>, %[[Y:[^:]*]]: tensor<50x40xf32>)
// CHECK-NOT:     outs(%{{.*}} : tensor<50x64xf32>)
// CHECK:         linalg.generic {indexing_maps = [#[[MK]], #[[NK]], #[[MN]]], {{.*}} ins(%[[X]], %[[W]] : tensor<50x64xbf16>, tensor<40x64xbf16>) outs(%[[Y]]
// CHECK:         ^bb0(%[[A:.*]]: bf16, %[[B:.*]]: bf16, %[[O:.*]]: f32):
// CHECK-DAG:       %[[WIDE_A:.*]] = arith.extf %[[A]] : bf16 to f32
// CHECK-DAG:       %[[WIDE_B:.*]] = arith.extf %[[B]] : bf16 to f32
// CHECK:           arith.mulf %[[WIDE_A]], %[[WIDE_B]] : f32
func.func @both(%x: tensor<50x64xbf16>, %w: tensor<40x64xbf16>, %y: tensor<50x40xf32>) -> tensor<50x40xf32> {
  %e = tensor.empty() : tensor<50x64xf32>
  %wide_x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<50x64xbf16>) outs(%e : tensor<50x64xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %c = arith.extf %a : bf16 to f32
    linalg.yield %c : f32
  } -> tensor<50x64xf32>
  %f = tensor.empty() : tensor<64x40xf32>
  %wide_w = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<40x64xbf16>) outs(%f : tensor<64x40xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %c = arith.extf %a : bf16 to f32
    linalg.yield %c : f32
  } -> tensor<64x40xf32>
  %0 = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%wide_x, %wide_w : tensor<50x64xf32>, tensor<64x40xf32>) outs(%y : tensor<50x40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<50x40xf32>
  return %0 : tensor<50x40xf32>
}

// -----

// An image is widened once for all windows that an element is in.

#id = affine_map<(d0, d1) -> (d0, d1)>
#x = affine_map<(o, i, k, p) -> (i, p + k)>
#w = affine_map<(o, i, k, p) -> (o, i, k)>
#y = affine_map<(o, i, k, p) -> (o, p)>

// CHECK-LABEL: func.func @windows(
// CHECK:         arith.extf
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<8x22xf32>, tensor<4x8x3xf32>)
// CHECK-NOT:     arith.extf
func.func @windows(%x: tensor<8x22xf16>, %w: tensor<4x8x3xf32>, %y: tensor<4x20xf32>) -> tensor<4x20xf32> {
  %e = tensor.empty() : tensor<8x22xf32>
  %wide = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x22xf16>) outs(%e : tensor<8x22xf32>) {
  ^bb0(%a: f16, %o: f32):
    %c = arith.extf %a : f16 to f32
    linalg.yield %c : f32
  } -> tensor<8x22xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction", "reduction", "parallel"]} ins(%wide, %w : tensor<8x22xf32>, tensor<4x8x3xf32>) outs(%y : tensor<4x20xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<4x20xf32>
  return %0 : tensor<4x20xf32>
}

// -----

// So also what is moved and reshaped between the two.

#all = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @moved(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<50x64xi32>, %[[W:[^:]*]]: tensor<40x8x8xi8>, %[[Y:[^:]*]]: tensor<50x40xi32>)
// CHECK:         %[[RESHAPED:.*]] = tensor.collapse_shape %[[W]] {{\[\[}}0], [1, 2]] : tensor<40x8x8xi8> into tensor<40x64xi8>
// CHECK:         %[[TURNED:.*]] = linalg.generic {{.*}} ins(%[[RESHAPED]] : tensor<40x64xi8>) outs(%{{.*}} : tensor<64x40xi8>)
// CHECK-NOT:     arith.extsi
// CHECK:         linalg.generic {{.*}} ins(%[[X]], %[[TURNED]] : tensor<50x64xi32>, tensor<64x40xi8>)
func.func @moved(%x: tensor<50x64xi32>, %w: tensor<40x8x8xi8>, %y: tensor<50x40xi32>) -> tensor<50x40xi32> {
  %e = tensor.empty() : tensor<40x8x8xi32>
  %wide = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%w : tensor<40x8x8xi8>) outs(%e : tensor<40x8x8xi32>) {
  ^bb0(%a: i8, %o: i32):
    %c = arith.extsi %a : i8 to i32
    linalg.yield %c : i32
  } -> tensor<40x8x8xi32>
  %matrix = tensor.collapse_shape %wide [[0], [1, 2]] : tensor<40x8x8xi32> into tensor<40x64xi32>
  %f = tensor.empty() : tensor<64x40xi32>
  %turned = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]} ins(%matrix : tensor<40x64xi32>) outs(%f : tensor<64x40xi32>) {
  ^bb0(%a: i32, %o: i32):
    linalg.yield %a : i32
  } -> tensor<64x40xi32>
  %0 = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %turned : tensor<50x64xi32>, tensor<64x40xi32>) outs(%y : tensor<50x40xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %m = arith.muli %a, %b : i32
    %s = arith.addi %o, %m : i32
    linalg.yield %s : i32
  } -> tensor<50x40xi32>
  return %0 : tensor<50x40xi32>
}

// -----

// Bytes that a float of half precision holds are converted to what products are of at once. What such a float
// would round is left alone.

#id = affine_map<(d0, d1) -> (d0, d1)>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @bytes(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<50x64xbf16>, %[[W:[^:]*]]: tensor<40x64xi8>, %[[Y:[^:]*]]: tensor<50x40xf32>)
// CHECK:         linalg.generic {{.*}} ins(%[[X]], %[[W]] : tensor<50x64xbf16>, tensor<40x64xi8>)
// CHECK:         ^bb0(%[[A:.*]]: bf16, %[[B:.*]]: i8, %[[O:.*]]: f32):
// CHECK-NEXT:      %[[FLOAT:.*]] = arith.sitofp %[[B]] : i8 to f32
// CHECK-NEXT:      %[[WIDE:.*]] = arith.extf %[[A]] : bf16 to f32
// CHECK-NEXT:      arith.mulf %[[WIDE]], %[[FLOAT]] : f32
func.func @bytes(%x: tensor<50x64xbf16>, %w: tensor<40x64xi8>, %y: tensor<50x40xf32>) -> tensor<50x40xf32> {
  %e = tensor.empty() : tensor<40x64xbf16>
  %float = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<40x64xi8>) outs(%e : tensor<40x64xbf16>) {
  ^bb0(%a: i8, %o: bf16):
    %c = arith.sitofp %a : i8 to bf16
    linalg.yield %c : bf16
  } -> tensor<40x64xbf16>
  %0 = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %float : tensor<50x64xbf16>, tensor<40x64xbf16>) outs(%y : tensor<50x40xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %c = arith.extf %a : bf16 to f32
    %d = arith.extf %b : bf16 to f32
    %m = arith.mulf %c, %d : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<50x40xf32>
  return %0 : tensor<50x40xf32>
}

// CHECK-LABEL: func.func @words(
// CHECK:         arith.sitofp %{{.*}} : i16 to bf16
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<50x64xbf16>, tensor<40x64xbf16>)
func.func @words(%x: tensor<50x64xbf16>, %w: tensor<40x64xi16>, %y: tensor<50x40xf32>) -> tensor<50x40xf32> {
  %e = tensor.empty() : tensor<40x64xbf16>
  %float = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<40x64xi16>) outs(%e : tensor<40x64xbf16>) {
  ^bb0(%a: i16, %o: bf16):
    %c = arith.sitofp %a : i16 to bf16
    linalg.yield %c : bf16
  } -> tensor<40x64xbf16>
  %0 = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %float : tensor<50x64xbf16>, tensor<40x64xbf16>) outs(%y : tensor<50x40xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %c = arith.extf %a : bf16 to f32
    %d = arith.extf %b : bf16 to f32
    %m = arith.mulf %c, %d : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<50x40xf32>
  return %0 : tensor<50x40xf32>
}
