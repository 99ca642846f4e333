// RUN: tcp-opt %s -rearrange-weights -split-input-file | FileCheck %s

// Weights that a contraction reads in another order are arguments in that order: those of a transposed
// convolution, turned about, and a part of some by itself.

#x = affine_map<(n, o, i, k, p) -> (n, i, p + k)>
#w = affine_map<(n, o, i, k, p) -> (o, i, k)>
#y = affine_map<(n, o, i, k, p) -> (n, o, p)>
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#turned = affine_map<(d0, d1, d2) -> (d1, d0 floordiv 2, d0 mod 2 - d2 * 2 + 2)>

// CHECK-LABEL: func.func @turned_about(
// CHECK-SAME:    %[[W:[^:]*]]: tensor<64x64x2xf32> {plumbline.layout = "view_2_axis_32by4_2by1_axis_64by128_axis_2back2", plumbline.weight = "w"}
// CHECK-SAME:    %[[X:[^:]*]]: tensor<1x64x9xf32>, %[[Y:[^:]*]]: tensor<1x64x8xf32>)
// CHECK-NEXT:    tensor.empty
// CHECK-NEXT:    linalg.generic {{.*}} ins(%[[X]], %[[W]] :
func.func @turned_about(%w: tensor<64x32x4xf32> {plumbline.weight = "w"}, %x: tensor<1x64x9xf32>, %y: tensor<1x64x8xf32>) -> tensor<1x64x8xf32> {
  %e = tensor.empty() : tensor<64x64x2xf32>
  %t = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%w : tensor<64x32x4xf32>) outs(%e : tensor<64x64x2xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<64x64x2xf32>
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction", "reduction", "parallel"]} ins(%x, %t : tensor<1x64x9xf32>, tensor<64x64x2xf32>) outs(%y : tensor<1x64x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x64x8xf32>
  return %r : tensor<1x64x8xf32>
}

// -----

// Of half precision they are rearranged as they lie, and widened then.

#x = affine_map<(n, o, i, k, p) -> (n, i, p + k)>
#w = affine_map<(n, o, i, k, p) -> (o, i, k)>
#y = affine_map<(n, o, i, k, p) -> (n, o, p)>
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#turned = affine_map<(d0, d1, d2) -> (d1, d0 floordiv 2, d0 mod 2 - d2 * 2 + 2)>

// CHECK-LABEL: func.func @widened(
// CHECK-SAME:    %[[W:[^:]*]]: tensor<64x64x2xf16> {plumbline.layout = "view_2_axis_32by4_2by1_axis_64by128_axis_2back2", plumbline.weight = "w"}
// CHECK-SAME:    %[[X:[^:]*]]: tensor<1x64x9xf32>, %[[Y:[^:]*]]: tensor<1x64x8xf32>)
// CHECK:         %[[WIDE:.*]] = linalg.generic {{.*}} ins(%[[W]] : tensor<64x64x2xf16>) outs({{.*}} : tensor<64x64x2xf32>)
// CHECK-NEXT:    ^bb0(
// CHECK-NEXT:      arith.extf
// CHECK:         linalg.generic {{.*}} ins(%[[X]], %[[WIDE]] :
// CHECK-NOT:     linalg.generic
func.func @widened(%w: tensor<64x32x4xf16> {plumbline.weight = "w"}, %x: tensor<1x64x9xf32>, %y: tensor<1x64x8xf32>) -> tensor<1x64x8xf32> {
  %f = tensor.empty() : tensor<64x32x4xf32>
  %u = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%w : tensor<64x32x4xf16>) outs(%f : tensor<64x32x4xf32>) {
  ^bb0(%a: f16, %o: f32):
    %b = arith.extf %a : f16 to f32
    linalg.yield %b : f32
  } -> tensor<64x32x4xf32>
  %e = tensor.empty() : tensor<64x64x2xf32>
  %t = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%u : tensor<64x32x4xf32>) outs(%e : tensor<64x64x2xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<64x64x2xf32>
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction", "reduction", "parallel"]} ins(%x, %t : tensor<1x64x9xf32>, tensor<64x64x2xf32>) outs(%y : tensor<1x64x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x64x8xf32>
  return %r : tensor<1x64x8xf32>
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @parts(
// CHECK-SAME:    %[[FIRST:[^:]*]]: tensor<64x40xf32> {plumbline.layout = "view_0_axis_64by40_axis_40by1", plumbline.weight = "w"}
// CHECK-SAME:    %[[LAST:[^:]*]]: tensor<64x40xf32> {plumbline.layout = "view_2560_axis_64by40_axis_40by1", plumbline.weight = "w"}
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %[[FIRST]] :
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %[[LAST]] :
func.func @parts(%w: tensor<2x64x40xf32> {plumbline.weight = "w"}, %x: tensor<50x64xf32>, %y: tensor<50x40xf32>) -> tensor<50x40xf32> {
  %first_of_all = tensor.extract_slice %w[0, 0, 0] [1, 64, 40] [1, 1, 1] : tensor<2x64x40xf32> to tensor<1x64x40xf32>
  %first = tensor.collapse_shape %first_of_all [[0, 1], [2]] : tensor<1x64x40xf32> into tensor<64x40xf32>
  %last_of_all = tensor.extract_slice %w[1, 0, 0] [1, 64, 40] [1, 1, 1] : tensor<2x64x40xf32> to tensor<1x64x40xf32>
  %last = tensor.collapse_shape %last_of_all [[0, 1], [2]] : tensor<1x64x40xf32> into tensor<64x40xf32>
  %0 = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %first : tensor<50x64xf32>, tensor<64x40xf32>) outs(%y : tensor<50x40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<50x40xf32>
  %1 = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %last : tensor<50x64xf32>, tensor<64x40xf32>) outs(%0 : tensor<50x40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<50x40xf32>
  return %1 : tensor<50x40xf32>
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Parts that overlap would be more than the weight, parameters are the caller's, and what is only
// reshaped can stay.

// CHECK-LABEL: func.func @stay(
// CHECK-NOT:     plumbline.layout
func.func @stay(%w: tensor<80x40xf32> {plumbline.weight = "w"}, %v: tensor<2560xf32> {plumbline.weight = "v"}, %p: tensor<80x40xf32> {plumbline.parameter = "p"}, %x: tensor<50x64xf32>, %y: tensor<50x40xf32>) -> tensor<50x40xf32> {
  %first = tensor.extract_slice %w[0, 0] [64, 40] [1, 1] : tensor<80x40xf32> to tensor<64x40xf32>
  %last = tensor.extract_slice %w[16, 0] [64, 40] [1, 1] : tensor<80x40xf32> to tensor<64x40xf32>
  %given = tensor.extract_slice %p[0, 0] [64, 40] [1, 1] : tensor<80x40xf32> to tensor<64x40xf32>
  %whole = tensor.expand_shape %v [[0, 1]] output_shape [64, 40] : tensor<2560xf32> into tensor<64x40xf32>
  %0 = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %first : tensor<50x64xf32>, tensor<64x40xf32>) outs(%y : tensor<50x40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<50x40xf32>
  %1 = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %last : tensor<50x64xf32>, tensor<64x40xf32>) outs(%0 : tensor<50x40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<50x40xf32>
  %2 = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %given : tensor<50x64xf32>, tensor<64x40xf32>) outs(%1 : tensor<50x40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<50x40xf32>
  %3 = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %whole : tensor<50x64xf32>, tensor<64x40xf32>) outs(%2 : tensor<50x40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<50x40xf32>
  return %3 : tensor<50x40xf32>
}
