// RUN: tcp-opt %s -split-input-file -keep-channels-last | FileCheck %s

#rows = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#window = affine_map<(d0, d1, d2) -> (d0, d1 + d2)>
#weights = affine_map<(d0, d1, d2) -> (d0, d2)>
#sums = affine_map<(d0, d1, d2) -> (d0, d1)>

// The image is read as it was before it was transposed, and zeros laid around it there; of weights
// the library has a copy that lies so, and the result is transposed.
// CHECK-DAG:   #[[ROWS:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG:   #[[TURNED:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG:   #[[WINDOW:.*]] = affine_map<(d0, d1, d2) -> (d1 + d2, d0)>
// CHECK-DAG:   #[[WEIGHTS:.*]] = affine_map<(d0, d1, d2) -> (d2, d0)>
// CHECK-DAG:   #[[SUMS:.*]] = affine_map<(d0, d1, d2) -> (d1, d0)>
// CHECK-LABEL: func.func @depthwise(
// CHECK-SAME:      %[[W:[^:]*]]: tensor<3x64xf32> {plumbline.layout = "view_0_axis_3by1_axis_64by3", plumbline.weight = "w"}
// CHECK-SAME:      %[[X:[^:]*]]: tensor<?x64xf32>
// CHECK:         %[[PADDED:.*]] = tensor.pad %[[X]] low[1, 0] high[1, 0]
// CHECK:         linalg.generic {indexing_maps = [#[[WINDOW]], #[[WEIGHTS]], #[[SUMS]]], {{.*}} ins(%[[PADDED]], %[[W]] :
// CHECK:         %[[BACK:.*]] = linalg.generic {indexing_maps = [#[[TURNED]], #[[ROWS]]],
// CHECK:         linalg.generic {indexing_maps = [#[[TURNED]], #[[ROWS]]], {{.*}} ins(%[[BACK]] :
func.func @depthwise(%w: tensor<64x3xf32> {plumbline.weight = "w"}, %x: tensor<?x64xf32>, %e: tensor<64x?xf32>, %g: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.generic {indexing_maps = [#turned, #rows], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x64xf32>) outs(%e : tensor<64x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<64x?xf32>
  %1 = tensor.pad %0 low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<64x?xf32> to tensor<64x?xf32>
  %2 = linalg.generic {indexing_maps = [#rows], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<64x?xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  } -> tensor<64x?xf32>
  %3 = linalg.generic {indexing_maps = [#window, #weights, #sums], iterator_types = ["parallel", "parallel", "reduction"]} ins(%1, %w : tensor<64x?xf32>, tensor<64x3xf32>) outs(%2 : tensor<64x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<64x?xf32>
  %4 = linalg.generic {indexing_maps = [#turned, #rows], iterator_types = ["parallel", "parallel"]} ins(%3 : tensor<64x?xf32>) outs(%g : tensor<?x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<?x64xf32>
  return %4 : tensor<?x64xf32>
}

// -----

#rows = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#window = affine_map<(d0, d1, d2) -> (d0, d1 + d2)>
#weights = affine_map<(d0, d1, d2) -> (d0, d2)>
#sums = affine_map<(d0, d1, d2) -> (d0, d1)>

// What is not transposed back is computed where planes are contiguous.
// CHECK-LABEL: func.func @planes(
// CHECK:         linalg.generic
// CHECK:         linalg.generic
// CHECK:         linalg.generic
// CHECK-NOT:     linalg.generic
func.func @planes(%w: tensor<64x3xf32>, %x: tensor<102x64xf32>, %e: tensor<64x102xf32>, %f: tensor<64x100xf32>) -> tensor<64x100xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.generic {indexing_maps = [#turned, #rows], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<102x64xf32>) outs(%e : tensor<64x102xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<64x102xf32>
  %1 = linalg.generic {indexing_maps = [#rows], iterator_types = ["parallel", "parallel"]} outs(%f : tensor<64x100xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  } -> tensor<64x100xf32>
  %2 = linalg.generic {indexing_maps = [#window, #weights, #sums], iterator_types = ["parallel", "parallel", "reduction"]} ins(%0, %w : tensor<64x102xf32>, tensor<64x3xf32>) outs(%1 : tensor<64x100xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<64x100xf32>
  return %2 : tensor<64x100xf32>
}

// -----

#rows = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#window = affine_map<(d0, d1, d2) -> (d0, d1 + d2)>
#weights = affine_map<(d0, d1, d2) -> (d0, d2)>
#sums = affine_map<(d0, d1, d2) -> (d0, d1)>

// What is widened before zeros are laid around it is widened where it is multiplied, as weights are.
// CHECK-DAG:   #[[WINDOW:.*]] = affine_map<(d0, d1, d2) -> (d1 + d2, d0)>
// CHECK-DAG:   #[[WEIGHTS:.*]] = affine_map<(d0, d1, d2) -> (d2, d0)>
// CHECK-LABEL: func.func @narrow(
// CHECK-SAME:      %[[W:[^:]*]]: tensor<3x64xbf16> {plumbline.layout = "view_0_axis_3by1_axis_64by3", plumbline.weight = "w"}
// CHECK-SAME:      %[[X:[^:]*]]: tensor<100x64xbf16>
// CHECK-NOT:     linalg.generic
// CHECK:         %[[ZERO:.*]] = arith.constant 0.000000e+00 : bf16
// CHECK-NOT:     linalg.generic
// CHECK:         %[[PADDED:.*]] = tensor.pad %[[X]] low[1, 0] high[1, 0]
// CHECK:           tensor.yield %[[ZERO]] : bf16
// CHECK:         linalg.generic {indexing_maps = [#[[WINDOW]], #[[WEIGHTS]], {{.*}} ins(%[[PADDED]], %[[W]] :
// CHECK-NEXT:    ^bb0(%[[A:.*]]: bf16, %[[B:.*]]: bf16, %{{.*}}: f32):
// CHECK-DAG:       arith.extf %[[A]] : bf16 to f32
// CHECK-DAG:       arith.extf %[[B]] : bf16 to f32
func.func @narrow(%w: tensor<64x3xbf16> {plumbline.weight = "w"}, %x: tensor<100x64xbf16>, %e: tensor<64x100xbf16>, %v: tensor<64x3xf32>, %f: tensor<64x100xf32>, %g: tensor<100x64xf32>) -> tensor<100x64xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.generic {indexing_maps = [#turned, #rows], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<100x64xbf16>) outs(%e : tensor<64x100xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    linalg.yield %a : bf16
  } -> tensor<64x100xbf16>
  %1 = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<64x100xbf16>) outs(%f : tensor<64x100xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %s = arith.extf %a : bf16 to f32
    linalg.yield %s : f32
  } -> tensor<64x100xf32>
  %2 = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<64x3xbf16>) outs(%v : tensor<64x3xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %s = arith.extf %a : bf16 to f32
    linalg.yield %s : f32
  } -> tensor<64x3xf32>
  %3 = tensor.pad %1 low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<64x100xf32> to tensor<64x102xf32>
  %4 = linalg.generic {indexing_maps = [#rows], iterator_types = ["parallel", "parallel"]} outs(%f : tensor<64x100xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  } -> tensor<64x100xf32>
  %5 = linalg.generic {indexing_maps = [#window, #weights, #sums], iterator_types = ["parallel", "parallel", "reduction"]} ins(%3, %2 : tensor<64x102xf32>, tensor<64x3xf32>) outs(%4 : tensor<64x100xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<64x100xf32>
  %6 = linalg.generic {indexing_maps = [#turned, #rows], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<64x100xf32>) outs(%g : tensor<100x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<100x64xf32>
  return %6 : tensor<100x64xf32>
}
