// RUN: tcp-opt %s -stablehlo-split-complex-numbers | FileCheck %s

// What moves numbers is done to each part by the same op, also where it adds; what computes is of TCP.

// CHECK-LABEL: func.func @sums(
// CHECK-SAME:      %[[X:.*]]: tensor<3x5x2xf32>) -> tensor<5x2xf32>
// CHECK-SAME:      plumbline.signature = {inputs = [{name = "arg0", type = "c64"}], outputs = [{name = "out0", type = "c64"}]}
// CHECK-COUNT-2: stablehlo.reduce({{.*}}) applies stablehlo.add across dimensions = [0] : (tensor<3x5xf32>, tensor<f32>) -> tensor<5xf32>
// CHECK-COUNT-2: tcp.mul
// CHECK:         tcp.sub
// CHECK-COUNT-2: tcp.mul
// CHECK:         tcp.add
// CHECK-NOT:     complex<
// CHECK:         return
func.func @sums(%x: tensor<3x5xcomplex<f32>>) -> tensor<5xcomplex<f32>> {
  %c = stablehlo.constant dense<(0.5, -2.0)> : tensor<complex<f32>>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0] : (tensor<3x5xcomplex<f32>>, tensor<complex<f32>>) -> tensor<5xcomplex<f32>>
  %1 = stablehlo.multiply %0, %0 : tensor<5xcomplex<f32>>
  return %1 : tensor<5xcomplex<f32>>
}
