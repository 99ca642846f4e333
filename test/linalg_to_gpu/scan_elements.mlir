// RUN: tcp-opt %s -scan-elements -canonicalize -cse | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>

// From slice to slice would be a launch for each; so it is a row for each place of a slice.
// CHECK-LABEL: func.func @slices(
// CHECK-SAME:      %[[X:.*]]: tensor<8x640x3xf32>)
// CHECK:         scf.for %[[I:.*]] = %c0 to %c8 step %c1
// CHECK:           scf.for %[[J:.*]] = %c0 to %c3 step %c1
// CHECK:             scf.for %[[K:.*]] = %c0 to %c640 step %c1 iter_args(%[[OUT:.*]] = %{{.*}}, %[[SO_FAR:.*]] = %cst) -> (tensor<8x640x3xf32>, f64)
// CHECK:               %[[A:.*]] = tensor.extract %[[X]][%[[I]], %[[K]], %[[J]]]
// CHECK:               %[[B:.*]] = arith.extf %[[A]]
// CHECK:               %[[C:.*]] = arith.addf %[[SO_FAR]], %[[B]]
// CHECK:               %[[D:.*]] = arith.truncf %[[C]]
// CHECK:               %[[E:.*]] = tensor.insert %[[D]] into %[[OUT]][%[[I]], %[[K]], %[[J]]]
// CHECK:               scf.yield %[[E]], %[[C]]
// CHECK:             } {plumbline.scan}
// CHECK-NOT:     tensor.extract_slice
func.func @slices(%x: tensor<8x640x3xf32>) -> tensor<8x640x3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c640 = arith.constant 640 : index
  %zero = arith.constant 0.0 : f64
  %out = tensor.empty() : tensor<8x640x3xf32>
  %e = tensor.empty() : tensor<8x3xf64>
  %f = tensor.empty() : tensor<8x3xf32>
  %start = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<8x3xf64>) {
  ^bb0(%o: f64):
    linalg.yield %zero : f64
  } -> tensor<8x3xf64>
  %0:2 = scf.for %k = %c0 to %c640 step %c1 iter_args(%t = %out, %s = %start) -> (tensor<8x640x3xf32>, tensor<8x3xf64>) {
    %slice = tensor.extract_slice %x[0, %k, 0] [8, 1, 3] [1, 1, 1] : tensor<8x640x3xf32> to tensor<8x3xf32>
    %1:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%slice : tensor<8x3xf32>) outs(%f, %s : tensor<8x3xf32>, tensor<8x3xf64>) {
    ^bb0(%a: f32, %o: f32, %so_far: f64):
      %b = arith.extf %a : f32 to f64
      %c = arith.addf %so_far, %b : f64
      %d = arith.truncf %c : f64 to f32
      linalg.yield %d, %c : f32, f64
    } -> (tensor<8x3xf32>, tensor<8x3xf64>)
    %u = tensor.insert_slice %1#0 into %t[0, %k, 0] [8, 1, 3] [1, 1, 1] : tensor<8x3xf32> into tensor<8x640x3xf32>
    scf.yield %u, %1#1 : tensor<8x640x3xf32>, tensor<8x3xf64>
  } {plumbline.scan}
  return %0#0 : tensor<8x640x3xf32>
}
