// RUN: tcp-opt %s -form-fusion-groups -share-groups -split-input-file | FileCheck %s

// Groups that are alike but for numbers in their arithmetic are one that takes these. What they have in common, and what
// stands for more than a number, they have themselves.

#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @steps(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<8xf32>)
// CHECK:         %[[THREE:.*]] = arith.constant 3.000000e+00 : f32
// CHECK:         %[[Y:.*]] = call @[[STEP:mul_sub_max[^(]*]](%[[X]], %[[THREE]]) : (tensor<8xf32>, f32) -> tensor<8xf32>
// CHECK:         %[[Z:.*]] = call @other(%[[Y]])
// CHECK:         %[[FIVE:.*]] = arith.constant 5.000000e+00 : f32
// CHECK:         call @[[STEP]](%[[Z]], %[[FIVE]])

// CHECK:       func.func private @[[STEP]](%[[ARG:[^:]*]]: tensor<8xf32>, %[[BY:[^:]*]]: f32)
// CHECK-DAG:     %[[HALF:.*]] = arith.constant 2.500000e-01 : f32
// CHECK-DAG:     %[[LEAST:.*]] = arith.constant 7.000000e+00 : f32
// CHECK:         arith.mulf %{{.*}}, %[[BY]]
// CHECK:         arith.subf %{{.*}}, %[[HALF]]
// CHECK:         arith.maximumf %{{.*}}, %[[LEAST]]
// CHECK-NOT:   @mul_sub_max
func.func private @other(tensor<8xf32>) -> tensor<8xf32>

func.func @steps(%x: tensor<8xf32>) -> tensor<8xf32> {
  %three = arith.constant 3.0 : f32
  %five = arith.constant 5.0 : f32
  %common = arith.constant 0.25 : f32
  %least = arith.constant 7.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.mulf %a, %three : f32
    %q = arith.subf %p, %common : f32
    %r = arith.maximumf %q, %least : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %between = func.call @other(%y) : (tensor<8xf32>) -> tensor<8xf32>
  %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%between : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.mulf %a, %five : f32
    %q = arith.subf %p, %common : f32
    %r = arith.maximumf %q, %least : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  return %z : tensor<8xf32>
}

// -----

// Divisions by powers of 2, clamps, and sums that begin with 1 are made by what their numbers are.

#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @apart(
// CHECK:         call @div_kernel{{[_0-9]*}}(%{{[^,]*}}) : (tensor<8xf32>) ->
// CHECK:         call @div_kernel{{[_0-9]*}}(%{{[^,]*}}) : (tensor<8xf32>) ->
// CHECK:         call @min_kernel{{[_0-9]*}}(%{{[^,]*}}) : (tensor<8xf32>) ->
// CHECK:         call @min_kernel{{[_0-9]*}}(%{{[^,]*}}) : (tensor<8xf32>) ->
// CHECK:         call @add_kernel{{[_0-9]*}}(%{{[^,]*}}) : (tensor<8xf32>) ->
// CHECK:         call @add_kernel{{[_0-9]*}}(%{{[^,]*}}) : (tensor<8xf32>) ->
func.func private @other(tensor<8xf32>) -> tensor<8xf32>

func.func @apart(%x: tensor<8xf32>) -> tensor<8xf32> {
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %three = arith.constant 3.0 : f32
  %four = arith.constant 4.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%i: f32, %o: f32):
    %r = arith.divf %i, %two : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %b = func.call @other(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %c = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%b : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%i: f32, %o: f32):
    %r = arith.divf %i, %three : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %d = func.call @other(%c) : (tensor<8xf32>) -> tensor<8xf32>
  %f = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%d : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%i: f32, %o: f32):
    %r = arith.minimumf %i, %three : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %g = func.call @other(%f) : (tensor<8xf32>) -> tensor<8xf32>
  %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%g : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%i: f32, %o: f32):
    %r = arith.minimumf %i, %four : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %j = func.call @other(%h) : (tensor<8xf32>) -> tensor<8xf32>
  %k = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%j : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%i: f32, %o: f32):
    %r = arith.addf %i, %one : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %l = func.call @other(%k) : (tensor<8xf32>) -> tensor<8xf32>
  %m = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%l : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%i: f32, %o: f32):
    %r = arith.addf %i, %four : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  return %m : tensor<8xf32>
}
