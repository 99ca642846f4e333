// RUN: tcp-opt %s -read-dequantized-weights -split-input-file | FileCheck %s

// One row is multiplied with weights of which 64 at a time have a scale. They are read in the shape that they are
// computed in, neither turned about nor as a matrix, and the products at each of 64 places are added up first.

#id = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#all = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#scale = affine_map<(d0, d1, d2) -> (d0, d1)>
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-DAG:   #[[ROW:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
// CHECK-DAG:   #[[MATRIX:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>
// CHECK-DAG:   #[[PLACES:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
// CHECK-LABEL: func.func @one_row(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<1x256xf32>,
// CHECK:         %[[WEIGHTS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<40x4x64xf32>)
// CHECK-NOT:     tensor.collapse_shape
// CHECK:         %[[PARTS:.*]] = tensor.expand_shape %[[X]] {{\[\[}}0], [1, 2]] output_shape [1, 4, 64]
// CHECK:         %[[SUMS:.*]] = linalg.generic {indexing_maps = [#[[ROW]], #[[MATRIX]], #[[PLACES]]], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%[[PARTS]], %[[WEIGHTS]] : tensor<1x4x64xf32>, tensor<40x4x64xf32>) outs(%{{.*}} : tensor<1x40x64xf32>)
// CHECK:         %[[RESULT:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[SUMS]] : tensor<1x40x64xf32>) outs(%{{.*}} : tensor<1x40xf32>)
// CHECK:         return %[[RESULT]]
func.func @one_row(%x: tensor<1x256xf32>, %w: tensor<40x4x64xi8> {plumbline.weight = "w"}, %s: tensor<40x4xf32> {plumbline.weight = "s"}, %y: tensor<1x40xf32>) -> tensor<1x40xf32> {
  %e = tensor.empty() : tensor<40x4x64xf32>
  %weights = linalg.generic {indexing_maps = [#all, #scale, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%w, %s : tensor<40x4x64xi8>, tensor<40x4xf32>) outs(%e : tensor<40x4x64xf32>) {
  ^bb0(%a: i8, %b: f32, %o: f32):
    %c = arith.sitofp %a : i8 to f32
    %p = arith.mulf %c, %b : f32
    linalg.yield %p : f32
  } -> tensor<40x4x64xf32>
  %matrix = tensor.collapse_shape %weights [[0], [1, 2]] : tensor<40x4x64xf32> into tensor<40x256xf32>
  %f = tensor.empty() : tensor<256x40xf32>
  %t = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]} ins(%matrix : tensor<40x256xf32>) outs(%f : tensor<256x40xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<256x40xf32>
  %0 = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %t : tensor<1x256xf32>, tensor<256x40xf32>) outs(%y : tensor<1x40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %p = arith.addf %o, %m : f32
    linalg.yield %p : f32
  } -> tensor<1x40xf32>
  return %0 : tensor<1x40xf32>
}

// -----

// Of many rows, as of what is computed of an argument, products are by register tiles, which are given a matrix.

#id = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#scale = affine_map<(d0, d1) -> (d0)>
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @nine_rows(
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<9x256xf32>, tensor<256x40xf32>)
func.func @nine_rows(%x: tensor<9x256xf32>, %w: tensor<40x256xi8> {plumbline.weight = "w"}, %s: tensor<40xf32> {plumbline.weight = "s"}, %y: tensor<9x40xf32>) -> tensor<9x40xf32> {
  %e = tensor.empty() : tensor<40x256xf32>
  %weights = linalg.generic {indexing_maps = [#id, #scale, #id], iterator_types = ["parallel", "parallel"]} ins(%w, %s : tensor<40x256xi8>, tensor<40xf32>) outs(%e : tensor<40x256xf32>) {
  ^bb0(%a: i8, %b: f32, %o: f32):
    %c = arith.sitofp %a : i8 to f32
    %p = arith.mulf %c, %b : f32
    linalg.yield %p : f32
  } -> tensor<40x256xf32>
  %f = tensor.empty() : tensor<256x40xf32>
  %t = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]} ins(%weights : tensor<40x256xf32>) outs(%f : tensor<256x40xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<256x40xf32>
  %0 = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %t : tensor<9x256xf32>, tensor<256x40xf32>) outs(%y : tensor<9x40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %p = arith.addf %o, %m : f32
    linalg.yield %p : f32
  } -> tensor<9x40xf32>
  return %0 : tensor<9x40xf32>
}

// CHECK-LABEL: func.func @of_an_argument(
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<1x256xf32>, tensor<256x40xf32>)
func.func @of_an_argument(%x: tensor<1x256xf32>, %w: tensor<40x256xi8> {plumbline.weight = "w"}, %s: tensor<40xf32>, %y: tensor<1x40xf32>) -> tensor<1x40xf32> {
  %e = tensor.empty() : tensor<40x256xf32>
  %weights = linalg.generic {indexing_maps = [#id, #scale, #id], iterator_types = ["parallel", "parallel"]} ins(%w, %s : tensor<40x256xi8>, tensor<40xf32>) outs(%e : tensor<40x256xf32>) {
  ^bb0(%a: i8, %b: f32, %o: f32):
    %c = arith.sitofp %a : i8 to f32
    %p = arith.mulf %c, %b : f32
    linalg.yield %p : f32
  } -> tensor<40x256xf32>
  %f = tensor.empty() : tensor<256x40xf32>
  %t = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]} ins(%weights : tensor<40x256xf32>) outs(%f : tensor<256x40xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<256x40xf32>
  %0 = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %t : tensor<1x256xf32>, tensor<256x40xf32>) outs(%y : tensor<1x40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %p = arith.addf %o, %m : f32
    linalg.yield %p : f32
  } -> tensor<1x40xf32>
  return %0 : tensor<1x40xf32>
}

// Nor is what is read of weights at places that an argument says computed of weights.
// CHECK-LABEL: func.func @at_places_of_an_argument(
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<1x256xf32>, tensor<256x40xf32>)
func.func @at_places_of_an_argument(%x: tensor<1x256xf32>, %w: tensor<40x256xi64> {plumbline.weight = "w"}, %s: tensor<9xf32>, %y: tensor<1x40xf32>) -> tensor<1x40xf32> {
  %e = tensor.empty() : tensor<40x256xf32>
  %weights = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<40x256xi64>) outs(%e : tensor<40x256xf32>) {
  ^bb0(%a: i64, %o: f32):
    %i = arith.index_cast %a : i64 to index
    %p = tensor.extract %s[%i] : tensor<9xf32>
    linalg.yield %p : f32
  } -> tensor<40x256xf32>
  %f = tensor.empty() : tensor<256x40xf32>
  %t = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]} ins(%weights : tensor<40x256xf32>) outs(%f : tensor<256x40xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<256x40xf32>
  %0 = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %t : tensor<1x256xf32>, tensor<256x40xf32>) outs(%y : tensor<1x40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %p = arith.addf %o, %m : f32
    linalg.yield %p : f32
  } -> tensor<1x40xf32>
  return %0 : tensor<1x40xf32>
}

// -----

// Where it is not known how many rows there are, few are told apart, each of which is multiplied with weights that
// are computed as it needs them; of more these are computed once.

#id = affine_map<(d0, d1) -> (d0, d1)>
#scale = affine_map<(d0, d1) -> (d0)>
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @any_rows(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x256xf32>
// CHECK-NOT:     arith.mulf
// CHECK-DAG:     %[[COUNT:.*]] = tensor.dim %[[X]], %c0{{.*}} : tensor<?x256xf32>
// CHECK-DAG:     %[[MOST:.*]] = arith.constant 8 : index
// CHECK:         %[[ARE_FEW:.*]] = arith.cmpi ule, %{{.*}}, %[[MOST]] : index
// CHECK:         %[[RESULT:.*]] = scf.if %[[ARE_FEW]] -> (tensor<?x64xf32>) {
// CHECK:           %[[ROWS:.*]] = scf.for %[[AT:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[SO_FAR:.*]] = %{{.*}}) -> (tensor<?x64xf32>) {
// CHECK:             %[[ROW:.*]] = tensor.extract_slice %[[X]][%[[AT]], 0] [1, 256] [1, 1] : tensor<?x256xf32> to tensor<1x256xf32>
// CHECK:             %[[WEIGHTS:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<256x64xi8>, tensor<256xf32>)
// CHECK:             %[[ONE:.*]] = linalg.generic {{.*}} ins(%[[ROW]], %[[WEIGHTS]] : tensor<1x256xf32>, tensor<256x64xf32>) outs(%{{.*}} : tensor<1x64xf32>)
// CHECK:             %[[MORE:.*]] = tensor.insert_slice %[[ONE]] into %[[SO_FAR]][%[[AT]], 0] [1, 64] [1, 1] : tensor<1x64xf32> into tensor<?x64xf32>
// CHECK:             scf.yield %[[MORE]]
// CHECK:           scf.yield %[[ROWS]]
// CHECK:         } else {
// CHECK:           linalg.generic {{.*}} ins(%[[X]], %{{.*}} : tensor<?x256xf32>, tensor<256x64xf32>) outs(%{{.*}} : tensor<?x64xf32>)
// CHECK:         return %[[RESULT]]
func.func @any_rows(%x: tensor<?x256xf32>, %w: tensor<256x64xi8> {plumbline.weight = "w"}, %s: tensor<256xf32> {plumbline.weight = "s"}) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x64xf32>
  %weights = linalg.generic {indexing_maps = [#id, #scale, #id], iterator_types = ["parallel", "parallel"]} ins(%w, %s : tensor<256x64xi8>, tensor<256xf32>) outs(%e : tensor<256x64xf32>) {
  ^bb0(%a: i8, %b: f32, %o: f32):
    %c = arith.sitofp %a : i8 to f32
    %p = arith.mulf %c, %b : f32
    linalg.yield %p : f32
  } -> tensor<256x64xf32>
  %rows = tensor.dim %x, %c0 : tensor<?x256xf32>
  %f = tensor.empty(%rows) : tensor<?x64xf32>
  %zeros = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%f : tensor<?x64xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  } -> tensor<?x64xf32>
  %0 = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %weights : tensor<?x256xf32>, tensor<256x64xf32>) outs(%zeros : tensor<?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %p = arith.addf %o, %m : f32
    linalg.yield %p : f32
  } -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}
