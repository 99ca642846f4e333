// RUN: tcp-opt %s -form-gpu-fusion-groups -split-input-file | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// What two steps read is computed by both, rather than put into memory, even of rows of any length.
// CHECK-LABEL: func.func @softmax(
// CHECK:         %[[Y:.*]] = call @exp_sum_div(
// CHECK:         return %[[Y]]
// CHECK:       func.func private @exp_sum_div(
func.func @softmax(%x: tensor<4x?xf32>, %n: index) -> tensor<4x?xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = tensor.empty(%n) : tensor<4x?xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x?xf32>) outs(%f : tensor<4x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<4x?xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<4xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  } -> tensor<4xf32>
  %2 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%0 : tensor<4x?xf32>) outs(%1 : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %3 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%0, %2 : tensor<4x?xf32>, tensor<4xf32>) outs(%f : tensor<4x?xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %r = arith.divf %a, %s : f32
    linalg.yield %r : f32
  } -> tensor<4x?xf32>
  return %3 : tensor<4x?xf32>
}

// -----

#left = affine_map<(d0, d1, d2) -> (d0, d2)>
#right = affine_map<(d0, d1, d2) -> (d2, d1)>
#result = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>

// What is computed for a product comes before it, as it would be computed again for each column;
// what is done to the product goes with it.
// CHECK-LABEL: func.func @epilogue(
// CHECK:         %[[X:.*]] = call @exp_kernel(
// CHECK:         %[[Y:.*]] = call @matmul_neg(%[[X]]
// CHECK:         return %[[Y]]
func.func @epilogue(%x: tensor<50x40xf32>, %y: tensor<40x50xf32>) -> tensor<50x50xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<50x50xf32>
  %f = tensor.empty() : tensor<50x40xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<50x40xf32>) outs(%f : tensor<50x40xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<50x40xf32>
  %1 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<50x50xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  } -> tensor<50x50xf32>
  %2 = linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "reduction"]} ins(%0, %y : tensor<50x40xf32>, tensor<40x50xf32>) outs(%1 : tensor<50x50xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %o, %m : f32
    linalg.yield %r : f32
  } -> tensor<50x50xf32>
  %3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<50x50xf32>) outs(%e : tensor<50x50xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.negf %a : f32
    linalg.yield %r : f32
  } -> tensor<50x50xf32>
  return %3 : tensor<50x50xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// A square has one operand, where a product has two.
// CHECK-LABEL: func.func @square(
// CHECK:         call @mul_kernel(
func.func @square(%x: tensor<50x40xf32>) -> tensor<50x40xf32> {
  %f = tensor.empty() : tensor<50x40xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<50x40xf32>) outs(%f : tensor<50x40xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.mulf %a, %a : f32
    linalg.yield %r : f32
  } -> tensor<50x40xf32>
  return %0 : tensor<50x40xf32>
}
