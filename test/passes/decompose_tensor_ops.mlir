// RUN: tcp-opt %s -decompose-tensor-ops | FileCheck %s

// CHECK-LABEL: func.func @concat(
// CHECK-NOT:     tensor.concat
// CHECK-COUNT-2: tensor.insert_slice
func.func @concat(%a: tensor<?x2xf32>, %b: tensor<?x3xf32>) -> tensor<?x5xf32> {
  %0 = tensor.concat dim(1) %a, %b : (tensor<?x2xf32>, tensor<?x3xf32>) -> tensor<?x5xf32>
  return %0 : tensor<?x5xf32>
}

// CHECK-LABEL: func.func @pad(
// CHECK-NOT:     tensor.pad
// CHECK:         linalg.fill
// CHECK:         tensor.insert_slice
func.func @pad(%a: tensor<?xf32>, %low: index, %value: f32) -> tensor<?xf32> {
  %0 = tensor.pad %a low[%low] high[1] {
  ^bb0(%i: index):
    tensor.yield %value : f32
  } : tensor<?xf32> to tensor<?xf32>
  return %0 : tensor<?xf32>
}
