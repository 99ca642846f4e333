// RUN: tcp-opt %s -tell-sizes -split-input-file | FileCheck %s

#turned = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// A copy of which nothing but its sizes are read is none; they are those that it was made with.

// CHECK-LABEL: func.func @copy(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x?x4xf32>, %[[B:.*]]: index, %[[N:.*]]: index)
// CHECK-NOT:     linalg.generic
// CHECK:         %[[M:.*]] = arith.muli %[[B]], %{{.*}}
// CHECK-NOT:     tensor.dim
// CHECK:         return %[[N]], %[[M]]
func.func @copy(%x: tensor<?x?x4xf32>, %b: index, %n: index) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %e = tensor.empty(%b, %n) : tensor<?x4x?xf32>
  %0 = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<?x?x4xf32>) outs(%e : tensor<?x4x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<?x4x?xf32>
  %1 = tensor.dim %0, %c2 : tensor<?x4x?xf32>
  %2 = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<?x4x?xf32> into tensor<?x?xf32>
  %3 = tensor.dim %2, %c0 : tensor<?x?xf32>
  return %1, %3 : index, index
}

// -----

// One that is read for more than its sizes stays, and so does what nothing tells.

#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @read(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?xf32>, %[[N:.*]]: index)
// CHECK:         %[[DIM:.*]] = tensor.dim %[[X]]
// CHECK:         %[[Y:.*]] = linalg.generic
// CHECK:         return %[[Y]], %[[N]], %[[DIM]]
func.func @read(%x: tensor<?xf32>, %n: index) -> (tensor<?xf32>, index, index) {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.negf %a : f32
    linalg.yield %b : f32
  } -> tensor<?xf32>
  %1 = tensor.dim %0, %c0 : tensor<?xf32>
  return %0, %1, %d : tensor<?xf32>, index, index
}

// -----

// A part is as long as it was asked to be, wherever it begins.

// CHECK-LABEL: func.func @part(
// CHECK-SAME:    %{{.*}}: tensor<?x?xf32>, %{{.*}}: index, %[[N:.*]]: index)
// CHECK-NOT:     tensor.extract_slice
// CHECK:         return %[[N]]
func.func @part(%x: tensor<?x?xf32>, %at: index, %n: index) -> index {
  %c1 = arith.constant 1 : index
  %0 = tensor.extract_slice %x[%at, 0] [2, %n] [1, 1] : tensor<?x?xf32> to tensor<2x?xf32>
  %1 = tensor.dim %0, %c1 : tensor<2x?xf32>
  return %1 : index
}
