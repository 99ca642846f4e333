// RUN: tcp-opt %s -tell-pads | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>

// Each element is written once, and what fills the whole is gone.
// CHECK-LABEL: func.func @pad(
// CHECK-SAME:      %[[X:.*]]: tensor<4x6xf32>)
// CHECK:         %[[P:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<4x9xf32>) attrs = {plumbline.pad} {
// CHECK:           %[[I:.*]] = linalg.index 0
// CHECK:           %[[J:.*]] = linalg.index 1
// CHECK:           %[[AT:.*]] = arith.subi %[[J]], %c2
// CHECK:           %[[INSIDE:.*]] = arith.cmpi ult, %[[AT]], %c6
// CHECK:           %[[READ:.*]] = arith.select %[[INSIDE]], %[[AT]], %c0
// CHECK:           %[[E:.*]] = tensor.extract %[[X]][%[[I]], %[[READ]]]
// CHECK:           %[[Y:.*]] = arith.select %[[INSIDE]], %[[E]], %{{.*}}
// CHECK:           linalg.yield %[[Y]]
// CHECK-NOT:     linalg.generic
// CHECK:         return %[[P]]
func.func @pad(%x: tensor<4x6xf32>) -> tensor<4x9xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<4x9xf32>
  %f = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x9xf32>) {
  ^bb0(%o: f32):
    linalg.yield %one : f32
  } -> tensor<4x9xf32>
  %p = tensor.insert_slice %x into %f[0, 2] [4, 6] [1, 1] : tensor<4x6xf32> into tensor<4x9xf32>
  return %p : tensor<4x9xf32>
}

// What is put in place of parts of another tensor stays so, and so does what is put apart.
// CHECK-LABEL: func.func @others(
// CHECK:         tensor.insert_slice
// CHECK:         tensor.insert_slice
func.func @others(%x: tensor<4x6xf32>, %y: tensor<4x9xf32>) -> (tensor<4x9xf32>, tensor<4x12xf32>) {
  %zeros = arith.constant dense<0.0> : tensor<4x12xf32>
  %0 = tensor.insert_slice %x into %y[0, 2] [4, 6] [1, 1] : tensor<4x6xf32> into tensor<4x9xf32>
  %1 = tensor.insert_slice %x into %zeros[0, 0] [4, 6] [1, 2] : tensor<4x6xf32> into tensor<4x12xf32>
  return %0, %1 : tensor<4x9xf32>, tensor<4x12xf32>
}
