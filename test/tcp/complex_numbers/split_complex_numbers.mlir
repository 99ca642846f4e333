// RUN: tcp-opt %s -tcp-split-complex-numbers -split-input-file -verify-diagnostics | FileCheck %s

// At the boundary parts lie beside each other; inside they are tensors of their own.

// CHECK-LABEL: func.func @turned(
// CHECK-SAME:      %[[X:.*]]: tensor<?x3x2xf32>, %[[N:.*]]: tensor<3xi64>) -> (tensor<?x3x2xf32>, tensor<3xi64>)
// CHECK-SAME:      plumbline.signature = {inputs = [{name = "arg0", type = "c64"}, {name = "arg1", type = "i64"}], outputs = [{name = "out0", type = "c64"}, {name = "out1", type = "i64"}]}
// CHECK-DAG:     %[[COS:.*]] = arith.constant dense<{{\[\[}}0.000000e+00, 3.000000e+00, 0x7F800000]]> : tensor<1x3xf32>
// CHECK-DAG:     %[[SIN:.*]] = arith.constant dense<{{\[\[}}1.000000e+00, 4.000000e+00, -1.000000e+00]]> : tensor<1x3xf32>
// CHECK:         tcp.bind_symbolic_shape %[[X]], {{.*}} affine_map<()[s0] -> (s0, 3, 2)> : tensor<?x3x2xf32>
// CHECK:         tcp.broadcast %[[COS]]
// CHECK:         tcp.broadcast %[[SIN]]
// CHECK-COUNT-2: tcp.mul
// CHECK:         tcp.sub
// CHECK-COUNT-2: tcp.mul
// CHECK:         tcp.add
// CHECK:         tcp.concat {{.*}} {dim = 2 : index} : tensor<?x3x1xf32>, tensor<?x3x1xf32> -> tensor<?x3x2xf32>
// CHECK-NOT:     complex<
// CHECK:         return %{{.*}}, %[[N]]
func.func @turned(%x: tensor<?x3xcomplex<f32>>, %n: tensor<3xi64>) -> (tensor<?x3xcomplex<f32>>, tensor<3xi64>) {
  %c0 = arith.constant 0 : index
  %rows = tcp.symbolic_int "rows" {min_val = 1, max_val = 100} : i64
  tcp.bind_symbolic_shape %x, [%rows], affine_map<()[s0] -> (s0, 3)> : tensor<?x3xcomplex<f32>>
  %i = arith.constant dense<[[(0.0, 1.0), (3.0, 4.0), (0x7F800000, -1.0)]]> : tensor<1x3xcomplex<f32>>
  %size = tensor.dim %x, %c0 : tensor<?x3xcomplex<f32>>
  %wide = tcp.broadcast %i, %size {axes = [0]} : tensor<1x3xcomplex<f32>>, index -> tensor<?x3xcomplex<f32>>
  %y = tcp.mul %x, %wide : tensor<?x3xcomplex<f32>>, tensor<?x3xcomplex<f32>> -> tensor<?x3xcomplex<f32>>
  return %y, %n : tensor<?x3xcomplex<f32>>, tensor<3xi64>
}

// -----

// What computes in a body goes on doing so, with numbers that it makes of parts.

// CHECK-LABEL: func.func @lengths(
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4xf64>, tensor<4xf64>) outs(%{{.*}} : tensor<4xf64>)
// CHECK-NEXT:    ^bb0(%[[RE:.*]]: f64, %[[IM:.*]]: f64, %{{.*}}: f64):
// CHECK-NEXT:      %[[Z:.*]] = complex.create %[[RE]], %[[IM]] : complex<f64>
// CHECK-NEXT:      complex.abs %[[Z]]
func.func @lengths(%x: tensor<4xcomplex<f64>>) -> tensor<4xf64> {
  %e = tensor.empty() : tensor<4xf64>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<4xcomplex<f64>>) outs(%e : tensor<4xf64>) {
  ^bb0(%z: complex<f64>, %out: f64):
    %1 = complex.abs %z : complex<f64>
    linalg.yield %1 : f64
  } -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

// -----

// Loops, branches and calls hand on both parts.

// CHECK-LABEL: func.func @handed_on(
// CHECK:         scf.while (%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) : (tensor<4xf32>, tensor<4xf32>, i1) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK:         scf.if {{.*}} -> (tensor<4xf32>, tensor<4xf32>)
// CHECK:         call @negated(%{{.*}}) : (tensor<4x2xf32>) -> tensor<4x2xf32>
func.func @handed_on(%x: tensor<4xcomplex<f32>>, %flag: tensor<i1>) -> tensor<4xcomplex<f32>> {
  %c = tensor.extract %flag[] : tensor<i1>
  %0 = scf.while (%z = %x, %d = %c) : (tensor<4xcomplex<f32>>, i1) -> tensor<4xcomplex<f32>> {
    scf.condition(%d) %z : tensor<4xcomplex<f32>>
  } do {
  ^bb0(%z: tensor<4xcomplex<f32>>):
    %y = tcp.add %z, %z : tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
    scf.yield %y, %c : tensor<4xcomplex<f32>>, i1
  }
  %1 = scf.if %c -> tensor<4xcomplex<f32>> {
    scf.yield %0 : tensor<4xcomplex<f32>>
  } else {
    scf.yield %x : tensor<4xcomplex<f32>>
  }
  %2 = tcp.sub %1, %x : tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  %4 = call @negated(%2) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return %4 : tensor<4xcomplex<f32>>
}

// CHECK-LABEL: func.func private @negated(
// CHECK-COUNT-2: tcp.neg
func.func private @negated(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %0 = tcp.neg %x : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}

// -----

// All that has no rule is told of at once.

func.func @refused(%x: tensor<2xcomplex<f32>>) -> (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) {
  // expected-error @below {{'tcp.custom_op' op has no lowering for complex numbers: compute with the real and the imaginary part as tensors of their own}}
  %0 = tcp.custom_op("lib.fast") %x : tensor<2xcomplex<f32>> -> tensor<2xcomplex<f32>>
  // expected-error @below {{'bufferization.alloc_tensor' op has no lowering for complex numbers}}
  %1 = bufferization.alloc_tensor() : tensor<2xcomplex<f32>>
  return %0, %1 : tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>
}

// -----

// expected-error @below {{'func.func' op has type (tensor<2xcomplex<f16>>) -> tensor<2xcomplex<f16>>: beside complex numbers, which are tensors of complex<f32> or complex<f64>, a function takes and returns ranked tensors of integers or floats}}
func.func @halves(%x: tensor<2xcomplex<f16>>) -> tensor<2xcomplex<f16>> {
  return %x : tensor<2xcomplex<f16>>
}
