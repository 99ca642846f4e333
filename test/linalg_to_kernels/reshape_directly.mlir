// RUN: tcp-opt %s -reshape-directly | FileCheck %s

// The sizes that are not known are the same ones, some of them multiplied.
// CHECK-LABEL: func.func @same(
// CHECK-SAME:      %[[X:.*]]: tensor<?x2x?x?xf32>
// CHECK-NOT:     into tensor<?xf32>
// CHECK:         %[[ROWS:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0, 1], [2], [3]] : tensor<?x2x?x?xf32> into tensor<?x?x?xf32>
// CHECK-NOT:     into tensor<?xf32>
// CHECK:         %[[BACK:.*]] = tensor.expand_shape %[[ROWS]] {{\[\[}}0, 1], [2], [3, 4]] output_shape [%{{.*}}, 2, %{{.*}}, 1, %{{.*}}] : tensor<?x?x?xf32> into tensor<?x2x?x1x?xf32>
// CHECK:         return %[[ROWS]], %[[BACK]]
func.func @same(%x: tensor<?x2x?x?xf32>) -> (tensor<?x?x?xf32>, tensor<?x2x?x1x?xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %batch = tensor.dim %x, %c0 : tensor<?x2x?x?xf32>
  %rows = tensor.dim %x, %c2 : tensor<?x2x?x?xf32>
  %columns = tensor.dim %x, %c3 : tensor<?x2x?x?xf32>
  %batches = arith.muli %batch, %c2 : index
  %flat = tensor.collapse_shape %x [[0, 1, 2, 3]] : tensor<?x2x?x?xf32> into tensor<?xf32>
  %0 = tensor.expand_shape %flat [[0, 1, 2]] output_shape [%batches, %rows, %columns] : tensor<?xf32> into tensor<?x?x?xf32>
  %again = tensor.collapse_shape %0 [[0, 1, 2]] : tensor<?x?x?xf32> into tensor<?xf32>
  %1 = tensor.expand_shape %again [[0, 1, 2, 3, 4]] output_shape [%batch, 2, %rows, 1, %columns] : tensor<?xf32> into tensor<?x2x?x1x?xf32>
  return %0, %1 : tensor<?x?x?xf32>, tensor<?x2x?x1x?xf32>
}

// In another order they are other places.
// CHECK-LABEL: func.func @transposed(
// CHECK:         tensor.collapse_shape %{{.*}} {{\[\[}}0, 1]] : tensor<?x?xf32> into tensor<?xf32>
// CHECK:         tensor.expand_shape
func.func @transposed(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %x, %c0 : tensor<?x?xf32>
  %columns = tensor.dim %x, %c1 : tensor<?x?xf32>
  %flat = tensor.collapse_shape %x [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  %0 = tensor.expand_shape %flat [[0, 1]] output_shape [%columns, %rows] : tensor<?xf32> into tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// Sizes of two arguments are the same where that is said of them.
// CHECK-LABEL: func.func @told(
// CHECK-SAME:      %[[Y:[^ ]*]]: tensor<?x3x?xf32>
// CHECK:         %[[PARTS:.*]] = tensor.collapse_shape %[[Y]] {{\[\[}}0, 1], [2]]
// CHECK:         return %[[PARTS]]
func.func @told(%y: tensor<?x3x?xf32> {plumbline.shape = affine_map<()[s0, s1] -> (s0, 3, s1)>}, %z: tensor<?x?xf32> {plumbline.shape = affine_map<()[s0, s1] -> (s0 * 3, s1)>}) -> tensor<?x?xf32> attributes {plumbline.symbols = [{max_val = 9 : i64, min_val = 0 : i64, name = "a"}, {max_val = 9 : i64, min_val = 0 : i64, name = "b"}]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %batch = tensor.dim %y, %c0 : tensor<?x3x?xf32>
  %columns = tensor.dim %z, %c1 : tensor<?x?xf32>
  %rows = arith.muli %batch, %c3 : index
  %flat = tensor.collapse_shape %y [[0, 1, 2]] : tensor<?x3x?xf32> into tensor<?xf32>
  %0 = tensor.expand_shape %flat [[0, 1]] output_shape [%rows, %columns] : tensor<?xf32> into tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// Sums are the same in any order, and those of what is put together.
// CHECK-LABEL: func.func @sums(
// CHECK-SAME:      %[[X:[^ ]*]]: tensor<?x4x?xf32>
// CHECK:         %[[ALL:.*]] = tensor.insert_slice
// CHECK:         %[[ROWS:.*]] = tensor.collapse_shape %[[ALL]] {{\[\[}}0, 1], [2]] : tensor<?x4x?xf32> into tensor<?x?xf32>
// CHECK:         return %[[ROWS]]
func.func @sums(%x: tensor<?x4x?xf32>, %y: tensor<?x4x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %batch = tensor.dim %x, %c0 : tensor<?x4x?xf32>
  %before = tensor.dim %x, %c2 : tensor<?x4x?xf32>
  %after = tensor.dim %y, %c2 : tensor<?x4x?xf32>
  %length = arith.addi %before, %after : index
  %empty = tensor.empty(%batch, %length) : tensor<?x4x?xf32>
  %all = tensor.insert_slice %x into %empty[0, 0, 0] [%batch, 4, %before] [1, 1, 1] : tensor<?x4x?xf32> into tensor<?x4x?xf32>
  %rows = arith.muli %batch, %c4 : index
  %same = affine.apply affine_map<()[s0, s1] -> (s0 + s1)>()[%after, %before]
  %flat = tensor.collapse_shape %all [[0, 1, 2]] : tensor<?x4x?xf32> into tensor<?xf32>
  %0 = tensor.expand_shape %flat [[0, 1]] output_shape [%rows, %same] : tensor<?xf32> into tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// Of a slice the sizes that it is given.
// CHECK-LABEL: func.func @slice(
// CHECK:         %[[PART:.*]] = tensor.extract_slice
// CHECK:         tensor.collapse_shape %[[PART]] {{\[\[}}0, 1], [2]] : tensor<?x?x?xf32> into tensor<?x?xf32>
func.func @slice(%x: tensor<?x?x?xf32>, %a: index, %b: index, %c: index) -> tensor<?x?xf32> {
  %part = tensor.extract_slice %x[1, 0, 0] [%a, %b, %c] [1, 1, 1] : tensor<?x?x?xf32> to tensor<?x?x?xf32>
  %rows = arith.muli %a, %b : index
  %flat = tensor.collapse_shape %part [[0, 1, 2]] : tensor<?x?x?xf32> into tensor<?xf32>
  %0 = tensor.expand_shape %flat [[0, 1]] output_shape [%rows, %c] : tensor<?xf32> into tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
