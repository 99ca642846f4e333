// RUN: tcp-opt %s -tcp-to-linalg-pipeline | FileCheck %s

// What computes on tensors beside TCP goes to linalg with it.

// CHECK-LABEL: func.func @beside_tcp(
// CHECK:         linalg.generic
// CHECK:           math.cbrt %{{.*}} : f32
// CHECK:         linalg.generic
// CHECK:           arith.addf %{{.*}} : f32
// CHECK:         return
func.func @beside_tcp(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = math.cbrt %x : tensor<?xf32>
  %1 = tcp.add %0, %y : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  return %1 : tensor<?xf32>
}
