// RUN: tcp-opt %s -split-input-file -compute-gathered | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#columns = affine_map<(d0, d1) -> (d1)>
#rows = affine_map<(d0, d1) -> (d0)>

// What gathers along columns is done for each row that is gathered of it, its copy of places too.
// CHECK-LABEL: func.func @gathered_of_gathered(
// CHECK-SAME:    %[[X:.*]]: tensor<4x8xf32>, %[[C:.*]]: tensor<16xindex>, %[[R:.*]]: tensor<9xindex>
// CHECK-COUNT-1: linalg.generic
// CHECK:           ^bb0(%[[ROW:.*]]: index, %{{.*}}: f32):
// CHECK:             %[[J:.*]] = linalg.index 1
// CHECK:             %[[COLUMN:.*]] = tensor.extract %[[C]][%[[J]]]
// CHECK:             %[[ELEMENT:.*]] = tensor.extract %[[X]][%[[ROW]], %[[COLUMN]]]
// CHECK:             %[[TWICE:.*]] = arith.addf %[[ELEMENT]], %[[ELEMENT]]
// CHECK:             linalg.yield %[[TWICE]]
// CHECK-NOT:     linalg.generic
func.func @gathered_of_gathered(%x: tensor<4x8xf32>, %c: tensor<16xindex>, %r: tensor<9xindex>) -> tensor<9x16xf32> {
  %e = tensor.empty() : tensor<4x16xf32>
  %0 = linalg.generic {indexing_maps = [#columns, #id], iterator_types = ["parallel", "parallel"]} ins(%c : tensor<16xindex>) outs(%e : tensor<4x16xf32>) {
  ^bb0(%at: index, %o: f32):
    %i = linalg.index 0 : index
    %v = tensor.extract %x[%i, %at] : tensor<4x8xf32>
    %s = arith.addf %v, %v : f32
    linalg.yield %s : f32
  } -> tensor<4x16xf32>
  %f = tensor.empty() : tensor<9x16xf32>
  %1 = linalg.generic {indexing_maps = [#rows, #id], iterator_types = ["parallel", "parallel"]} ins(%r : tensor<9xindex>) outs(%f : tensor<9x16xf32>) {
  ^bb0(%at: index, %o: f32):
    %j = linalg.index 1 : index
    %v = tensor.extract %0[%at, %j] : tensor<4x16xf32>
    linalg.yield %v : f32
  } -> tensor<9x16xf32>
  return %1 : tensor<9x16xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
#first = affine_map<(d0) -> (0)>

// Of a number everywhere there is no tensor to be read.
// CHECK-LABEL: func.func @of_a_number(
// CHECK:         linalg.generic
// CHECK-NOT:       tensor.extract
// CHECK:           %[[TWO:.*]] = arith.constant 2.000000e+00
// CHECK:           linalg.yield %[[TWO]]
// CHECK-NOT:     linalg.generic
func.func @of_a_number(%r: tensor<9xindex>) -> tensor<9xf32> {
  %two = arith.constant dense<2.0> : tensor<1xf32>
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#first, #id], iterator_types = ["parallel"]} ins(%two : tensor<1xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4xf32>
  %f = tensor.empty() : tensor<9xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%r : tensor<9xindex>) outs(%f : tensor<9xf32>) {
  ^bb0(%at: index, %o: f32):
    %v = tensor.extract %0[%at] : tensor<4xf32>
    linalg.yield %v : f32
  } -> tensor<9xf32>
  return %1 : tensor<9xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#rows = affine_map<(d0, d1) -> (d0)>

// What costs more stays where it is done once, and so does what gathers nothing itself.
// CHECK-LABEL: func.func @done_once(
// CHECK-COUNT-4: linalg.generic
// CHECK-NOT:     linalg.generic
func.func @done_once(%x: tensor<4x8xf32>, %r: tensor<9xindex>) -> (tensor<9x8xf32>, tensor<9x8xf32>) {
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x8xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %v = tensor.extract %x[%i, %i] : tensor<4x8xf32>
    %s = math.erf %v : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  %f = tensor.empty() : tensor<9x8xf32>
  %2 = linalg.generic {indexing_maps = [#rows, #id], iterator_types = ["parallel", "parallel"]} ins(%r : tensor<9xindex>) outs(%f : tensor<9x8xf32>) {
  ^bb0(%at: index, %o: f32):
    %j = linalg.index 1 : index
    %v = tensor.extract %0[%at, %j] : tensor<4x8xf32>
    linalg.yield %v : f32
  } -> tensor<9x8xf32>
  %3 = linalg.generic {indexing_maps = [#rows, #id], iterator_types = ["parallel", "parallel"]} ins(%r : tensor<9xindex>) outs(%f : tensor<9x8xf32>) {
  ^bb0(%at: index, %o: f32):
    %j = linalg.index 1 : index
    %v = tensor.extract %1[%at, %j] : tensor<4x8xf32>
    linalg.yield %v : f32
  } -> tensor<9x8xf32>
  return %2, %3 : tensor<9x8xf32>, tensor<9x8xf32>
}
