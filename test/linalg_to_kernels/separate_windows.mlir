// RUN: tcp-opt %s -split-input-file -separate-windows | FileCheck %s

#image = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3 * 2 + d1, d4 * 2 + d2)>
#window = affine_map<(d0, d1, d2, d3, d4) -> (d1, d2)>
#result = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d4)>

// Columns are combined first, for each row of windows, then those of each window.
// CHECK-DAG:   #[[COLUMN:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1 * 2 + d3, d2)>
// CHECK-DAG:   #[[COLUMNS:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK-DAG:   #[[ROW:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1 + d3 * 2)>
// CHECK-DAG:   #[[ROWS:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
// CHECK-LABEL: func.func @extremes(
// CHECK-SAME:    %[[X:.*]]: tensor<8x33x65xf16>
// CHECK:         %[[COMBINED:.*]] = linalg.generic {indexing_maps = [#[[COLUMN]], #{{.*}}, #[[COLUMNS]]], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%[[X]], %{{.*}} : tensor<8x33x65xf16>, tensor<3xf16>)
// CHECK:           arith.extf
// CHECK:           arith.maximumf
// CHECK:         } -> tensor<8x16x65xf32>
// CHECK:         linalg.generic {indexing_maps = [#[[ROW]], #{{.*}}, #[[ROWS]]], iterator_types = ["parallel", "reduction", "parallel", "parallel"]} ins(%[[COMBINED]], %{{.*}} : tensor<8x16x65xf32>, tensor<3xf32>)
// CHECK-NOT:       arith.extf
// CHECK:           arith.maximumf
// CHECK:         } -> tensor<8x16x32xf32>
func.func @extremes(%x: tensor<8x33x65xf16>) -> tensor<8x16x32xf32> {
  %least = arith.constant dense<0xFF800000> : tensor<8x16x32xf32>
  %w = tensor.empty() : tensor<3x3xf16>
  %0 = linalg.generic {indexing_maps = [#image, #window, #result], iterator_types = ["parallel", "reduction", "reduction", "parallel", "parallel"]} ins(%x, %w : tensor<8x33x65xf16>, tensor<3x3xf16>) outs(%least : tensor<8x16x32xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %e = arith.extf %a : f16 to f32
    %m = arith.maximumf %e, %o fastmath<nsz> : f32
    linalg.yield %m : f32
  } -> tensor<8x16x32xf32>
  return %0 : tensor<8x16x32xf32>
}

// -----

#image = affine_map<(d0, d1, d2, d3, d4) -> (d0 * 2 + d3, d1 + d4, d2)>
#window = affine_map<(d0, d1, d2, d3, d4) -> (d3, d4)>
#result = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>

// Channels may be last, and sizes unknown.
// CHECK-LABEL: func.func @channels_last(
// CHECK-SAME:    %[[X:.*]]: tensor<?x?x?xf32>, %[[H:.*]]: index, %[[W:.*]]: index, %[[C:.*]]: index
// CHECK:         tensor.empty(%{{.*}}, %{{.*}}, %{{.*}}) : tensor<?x?x?xf32>
// CHECK:         arith.addf
// CHECK:         arith.addf
func.func @channels_last(%x: tensor<?x?x?xf32>, %h: index, %w: index, %c: index) -> tensor<?x?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%h, %w, %c) : tensor<?x?x?xf32>
  %zeros = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} outs(%e : tensor<?x?x?xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  } -> tensor<?x?x?xf32>
  %k = tensor.empty() : tensor<5x5xf32>
  %0 = linalg.generic {indexing_maps = [#image, #window, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%x, %k : tensor<?x?x?xf32>, tensor<5x5xf32>) outs(%zeros : tensor<?x?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %o, %a fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}

// -----

#image = affine_map<(d0, d1, d2, d3) -> (d0 + d2, d1 + d3)>
#window = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#result = affine_map<(d0, d1, d2, d3) -> (d0, d1)>

// Not sums that begin with something, which would be added twice, nor such as have an order.
// CHECK-LABEL: func.func @left_alone(
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT:     linalg.generic
func.func @left_alone(%x: tensor<20x20xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
  %one = arith.constant dense<1.0> : tensor<16x16xf32>
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %k = tensor.empty() : tensor<5x5xf32>
  %0 = linalg.generic {indexing_maps = [#image, #window, #result], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%x, %k : tensor<20x20xf32>, tensor<5x5xf32>) outs(%one : tensor<16x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %o, %a fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<16x16xf32>
  %1 = linalg.generic {indexing_maps = [#image, #window, #result], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%x, %k : tensor<20x20xf32>, tensor<5x5xf32>) outs(%zero : tensor<16x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<16x16xf32>
  return %0, %1 : tensor<16x16xf32>, tensor<16x16xf32>
}

// -----

#image = affine_map<(d0, d1, d2, d3) -> (d0 * 2 + d2, d1 * 2 + d3)>
#near = affine_map<(d0, d1, d2, d3) -> (d0 + d2, d1 + d3)>
#window = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#result = affine_map<(d0, d1, d2, d3) -> (d0, d1)>

// Nor windows of 2x2, which have nothing in common, nor small ones along long rows.
// CHECK-LABEL: func.func @not_worth_it(
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT:     linalg.generic
func.func @not_worth_it(%x: tensor<20x20xf32>, %y: tensor<200x202xf32>) -> (tensor<10x10xf32>, tensor<198x200xf32>) {
  %least = arith.constant dense<0xFF800000> : tensor<10x10xf32>
  %small = tensor.empty() : tensor<2x2xf32>
  %0 = linalg.generic {indexing_maps = [#image, #window, #result], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%x, %small : tensor<20x20xf32>, tensor<2x2xf32>) outs(%least : tensor<10x10xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.maximumf %a, %o : f32
    linalg.yield %m : f32
  } -> tensor<10x10xf32>
  %of_all = arith.constant dense<0xFF800000> : tensor<198x200xf32>
  %k = tensor.empty() : tensor<3x3xf32>
  %1 = linalg.generic {indexing_maps = [#near, #window, #result], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%y, %k : tensor<200x202xf32>, tensor<3x3xf32>) outs(%of_all : tensor<198x200xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.maximumf %a, %o : f32
    linalg.yield %m : f32
  } -> tensor<198x200xf32>
  return %0, %1 : tensor<10x10xf32>, tensor<198x200xf32>
}
