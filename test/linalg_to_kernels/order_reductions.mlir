// RUN: tcp-opt %s -split-input-file -order-reductions | FileCheck %s

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#turned = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
#sums = affine_map<(d0, d1, d2) -> (d0)>

// Of an image that has been turned, channels are added up innermost: that is where they lie. What is
// done to each element before is done where it is read.
// CHECK-DAG:   #[[SWAPPED:.*]] = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
// CHECK-DAG:   #[[SUMS:.*]] = affine_map<(d0, d1, d2) -> (d0)>
// CHECK-LABEL: func.func @channels_last(
// CHECK:         math.absf
// CHECK:         linalg.generic {indexing_maps = [#[[SWAPPED]], #[[SUMS]]], iterator_types = ["parallel", "reduction", "reduction"]} ins(%{{.*}} : tensor<4x3x100xf32>) outs(%arg1
func.func @channels_last(%x: tensor<4x100x3xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4x3x100xf32>
  %0 = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<4x100x3xf32>) outs(%e : tensor<4x3x100xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4x3x100xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%0 : tensor<4x3x100xf32>) outs(%e : tensor<4x3x100xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.absf %a : f32
    linalg.yield %s : f32
  } -> tensor<4x3x100xf32>
  %2 = linalg.generic {indexing_maps = [#id, #sums], iterator_types = ["parallel", "reduction", "reduction"]} ins(%1 : tensor<4x3x100xf32>) outs(%init : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#sum = affine_map<(d0, d1) -> ()>

// In the program's order stay sums that are not said to be in any, and those of two tensors that lie
// each in another.
// CHECK-DAG:   #[[TURNED:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG:   #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG:   #[[SUM:.*]] = affine_map<(d0, d1) -> ()>
// CHECK-LABEL: func.func @others(
// CHECK:         linalg.generic {indexing_maps = [#[[TURNED]], #[[SUM]]]
// CHECK:         linalg.generic {indexing_maps = [#[[TURNED]], #[[ID]], #[[SUM]]]
// CHECK:         linalg.generic {indexing_maps = [#[[ID]], #[[SUM]]]
// CHECK-SAME:      tensor<3x100xi32>
func.func @others(%x: tensor<3x100xf32>, %y: tensor<100x3xf32>, %z: tensor<3x100xi32>, %init: tensor<f32>, %none: tensor<i32>) -> (tensor<f32>, tensor<f32>, tensor<i32>) {
  %0 = linalg.generic {indexing_maps = [#turned, #sum], iterator_types = ["reduction", "reduction"]} ins(%x : tensor<3x100xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %1 = linalg.generic {indexing_maps = [#turned, #id, #sum], iterator_types = ["reduction", "reduction"]} ins(%x, %y : tensor<3x100xf32>, tensor<100x3xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %2 = linalg.generic {indexing_maps = [#turned, #sum], iterator_types = ["reduction", "reduction"]} ins(%z : tensor<3x100xi32>) outs(%none : tensor<i32>) {
  ^bb0(%a: i32, %o: i32):
    %s = arith.addi %o, %a : i32
    linalg.yield %s : i32
  } -> tensor<i32>
  return %0, %1, %2 : tensor<f32>, tensor<f32>, tensor<i32>
}

// -----

#diagonal = affine_map<(d0, d1) -> (d1, d1, d0)>
#sum = affine_map<(d0, d1) -> ()>

// A loop along a diagonal has two axes.
// CHECK-DAG:   #[[DIAGONAL:.*]] = affine_map<(d0, d1) -> (d0, d0, d1)>
// CHECK-LABEL: func.func @diagonal(
// CHECK:         linalg.generic {indexing_maps = [#[[DIAGONAL]], #{{.*}}], iterator_types = ["reduction", "reduction"]}
func.func @diagonal(%x: tensor<8x8x9xf32>, %init: tensor<f32>) -> tensor<f32> {
  %0 = linalg.generic {indexing_maps = [#diagonal, #sum], iterator_types = ["reduction", "reduction"]} ins(%x : tensor<8x8x9xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#sum = affine_map<(d0, d1) -> ()>

// What is read several times on the way is computed where it is read as well, unless something else reads it: the second
// sum is of a tensor that is there as a whole, and lies in the order of its own axes.
// CHECK-DAG:   #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG:   #[[TURNED:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG:   #[[SUM:.*]] = affine_map<(d0, d1) -> ()>
// CHECK-LABEL: func.func @read_twice(
// CHECK:         arith.cmpf
// CHECK:         linalg.generic {indexing_maps = [#[[TURNED]], #[[TURNED]], #[[SUM]]], iterator_types = ["reduction", "reduction"]}
// CHECK:         arith.cmpf
// CHECK:         linalg.generic {indexing_maps = [#[[ID]], #[[ID]], #[[SUM]]], iterator_types = ["reduction", "reduction"]}
func.func @read_twice(%x: tensor<100x3xf32>, %y: tensor<100x3xf32>, %init: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<3x100xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x100xf32>
  %t = tensor.empty() : tensor<3x100xi1>
  %0 = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<100x3xf32>) outs(%e : tensor<3x100xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.absf %a : f32
    linalg.yield %s : f32
  } -> tensor<3x100xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<3x100xf32>) outs(%t : tensor<3x100xi1>) {
  ^bb0(%a: f32, %o: i1):
    %s = arith.cmpf ogt, %a, %zero : f32
    linalg.yield %s : i1
  } -> tensor<3x100xi1>
  %2 = linalg.generic {indexing_maps = [#id, #id, #sum], iterator_types = ["reduction", "reduction"]} ins(%0, %1 : tensor<3x100xf32>, tensor<3x100xi1>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %b: i1, %o: f32):
    %m = arith.select %b, %a, %zero : f32
    %s = arith.addf %o, %m fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %3 = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<100x3xf32>) outs(%e : tensor<3x100xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.absf %a : f32
    linalg.yield %s : f32
  } -> tensor<3x100xf32>
  %4 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%3 : tensor<3x100xf32>) outs(%t : tensor<3x100xi1>) {
  ^bb0(%a: f32, %o: i1):
    %s = arith.cmpf ogt, %a, %zero : f32
    linalg.yield %s : i1
  } -> tensor<3x100xi1>
  %5 = linalg.generic {indexing_maps = [#id, #id, #sum], iterator_types = ["reduction", "reduction"]} ins(%3, %4 : tensor<3x100xf32>, tensor<3x100xi1>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %b: i1, %o: f32):
    %m = arith.select %b, %a, %zero : f32
    %s = arith.addf %o, %m fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %2, %5, %3 : tensor<f32>, tensor<f32>, tensor<3x100xf32>
}
