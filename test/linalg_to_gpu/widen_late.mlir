// RUN: tcp-opt %s -widen-late | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>

// Both readers widen for themselves.
// CHECK-LABEL: func.func @two_readers(
// CHECK:         %[[ONE:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<4x4xf16>)
// CHECK:           arith.extf
// CHECK:         %[[OTHER:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<4x4xf16>)
// CHECK:           arith.extf
// CHECK:         linalg.generic {{.*}} ins(%[[FIRST:.*]] : tensor<4x4xf32>)
// CHECK:           math.exp
// CHECK:         linalg.generic {{.*}} ins(%[[SECOND:.*]] : tensor<4x4xf32>)
// CHECK:           math.sqrt
func.func @two_readers(%x: tensor<4x4xf16>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %e = tensor.empty() : tensor<4x4xf32>
  %wide = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x4xf16>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%i: f16, %o: f32):
    %r = arith.extf %i : f16 to f32
    linalg.yield %r : f32
  } -> tensor<4x4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%wide : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%i: f32, %o: f32):
    %r = math.exp %i : f32
    linalg.yield %r : f32
  } -> tensor<4x4xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%wide : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%i: f32, %o: f32):
    %r = math.sqrt %i : f32
    linalg.yield %r : f32
  } -> tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// What is narrow is padded, and widened then.
// CHECK-LABEL: func.func @padded(
// CHECK:         %[[ZEROS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<6x?xf16>)
// CHECK:         %[[PADDED:.*]] = tensor.insert_slice %arg0 into %[[ZEROS]][1, 1] [4, 4] [1, 1] : tensor<4x4xf16> into tensor<6x?xf16>
// CHECK:         %[[WIDE:.*]] = linalg.generic {{.*}} ins(%[[PADDED]] : tensor<6x?xf16>) outs(%{{.*}} : tensor<6x?xf32>)
// CHECK:           arith.extf
// CHECK:         return %[[WIDE]]
func.func @padded(%x: tensor<4x4xf16>, %n: index) -> tensor<6x?xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %f = tensor.empty(%n) : tensor<6x?xf32>
  %wide = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x4xf16>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%i: f16, %o: f32):
    %r = arith.extf %i : f16 to f32
    linalg.yield %r : f32
  } -> tensor<4x4xf32>
  %zeros = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%f : tensor<6x?xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  } -> tensor<6x?xf32>
  %0 = tensor.insert_slice %wide into %zeros[1, 1] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<6x?xf32>
  return %0 : tensor<6x?xf32>
}

// Ones have no such place: not all that is wide is the same when it is narrow.
// CHECK-LABEL: func.func @among_ones(
// CHECK:         tensor.insert_slice %{{.*}} : tensor<4x4xf32> into tensor<6x6xf32>
func.func @among_ones(%x: tensor<4x4xf16>) -> tensor<6x6xf32> {
  %one = arith.constant 1.1 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %f = tensor.empty() : tensor<6x6xf32>
  %wide = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x4xf16>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%i: f16, %o: f32):
    %r = arith.extf %i : f16 to f32
    linalg.yield %r : f32
  } -> tensor<4x4xf32>
  %ones = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%f : tensor<6x6xf32>) {
  ^bb0(%o: f32):
    linalg.yield %one : f32
  } -> tensor<6x6xf32>
  %0 = tensor.insert_slice %wide into %ones[1, 1] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<6x6xf32>
  return %0 : tensor<6x6xf32>
}
