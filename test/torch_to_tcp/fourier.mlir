// RUN: tcp-opt %s -torch-backend-to-tcp-backend-pipeline | FileCheck %s

// Back, with the real part alone: it takes the place of the imaginary one, and parts change places
// in the end. Sizes are searched for large primes; a loop of two passes has one of steps in it, by
// eight and what else is a butterfly, and by a prime as a product; or there is a convolution.
// CHECK-LABEL: func.func @back(
// CHECK:         %[[BOTH:.*]] = tcp.pad
// CHECK:         %[[WHOLE:.*]] = tcp.transpose %[[BOTH]] {permutation = [1, 2, 0, 3]}
// CHECK:         scf.while
// CHECK:         scf.if %{{.*}} -> (tensor<2x?x?xf32>) {
// CHECK:           scf.for
// CHECK:             scf.for
// CHECK-COUNT-2:       tcp.sin
// CHECK:               scf.if
// CHECK:                 tcp.reduce %{{.*}} : tensor<2x8x2x?x8x?x?xf32> -> tensor<2x?x8x?x?xf32>
// CHECK:               scf.if
// CHECK:                 tcp.reduce %{{.*}} : tensor<2x7x2x?x7x?x?xf32> -> tensor<2x?x7x?x?xf32>
// CHECK:                 tcp.matmul
// CHECK:         } else {
// CHECK:           tcp.remsi
// CHECK:           tcp.concat %{{.*}} {dim = 2 : index} : tensor<2x?x?xf64>, tensor<2x?x1xf64>
// CHECK:           tcp.reduce %{{.*}} : tensor<2x8x2x?x8x?x?xf64> -> tensor<2x?x8x?x?xf64>
// CHECK-NOT:       tcp.matmul
// CHECK:           tcp.cast %{{.*}} : tensor<2x?x?xf64> -> tensor<2x?x?xf32>
// CHECK:         tcp.reverse %{{.*}} {axes = [0]}
// CHECK:         tcp.transpose %{{.*}} {permutation = [2, 1, 3, 0]}
func.func @back(%numbers: !torch.vtensor<[?,1,?,?],f32>) -> !torch.vtensor<[?,?,?,2],f32> {
  %sign = torch.constant.int 1
  %0 = torch.operator "torch.plumbline.fourier_transform"(%numbers, %sign) : (!torch.vtensor<[?,1,?,?],f32>, !torch.int) -> !torch.vtensor<[?,?,?,2],f32>
  return %0 : !torch.vtensor<[?,?,?,2],f32>
}

// Forth, of both parts, which stay where they are.
// CHECK-LABEL: func.func @forth(
// CHECK-NOT:     tcp.pad
// CHECK-NOT:     tcp.reverse
// CHECK:         tcp.transpose %{{.*}} {permutation = [1, 2, 0, 3]}
// CHECK:         scf.if %{{.*}} -> (tensor<2x?x3xf64>) {
func.func @forth(%numbers: !torch.vtensor<[3,2,?,1],f64>) -> !torch.vtensor<[3,?,1,2],f64> {
  %sign = torch.constant.int -1
  %0 = torch.operator "torch.plumbline.fourier_transform"(%numbers, %sign) : (!torch.vtensor<[3,2,?,1],f64>, !torch.int) -> !torch.vtensor<[3,?,1,2],f64>
  return %0 : !torch.vtensor<[3,?,1,2],f64>
}
