// RUN: tcp-opt %s -fill-splats | FileCheck %s

// CHECK-LABEL: func.func @large(
// CHECK:         %[[EMPTY:.*]] = tensor.empty() : tensor<100x1000xf32>
// CHECK:         %[[FILLED:.*]] = linalg.generic {{.*}} outs(%[[EMPTY]] :
// CHECK:           %[[NUMBER:.*]] = arith.constant 3.000000e+00 : f32
// CHECK:           linalg.yield %[[NUMBER]]
// CHECK:         return %[[FILLED]]
func.func @large() -> tensor<100x1000xf32> {
  %0 = arith.constant dense<3.0> : tensor<100x1000xf32>
  return %0 : tensor<100x1000xf32>
}

// CHECK-LABEL: func.func @truth(
// CHECK:         arith.constant true
// CHECK:         linalg.yield
func.func @truth() -> tensor<10000000000xi1> {
  %0 = arith.constant dense<true> : tensor<10000000000xi1>
  return %0 : tensor<10000000000xi1>
}

// CHECK-LABEL: func.func @constants(
// CHECK-COUNT-4: arith.constant dense
// CHECK-NOT:     linalg.generic
func.func @constants() -> (tensor<64xf32>, tensor<0x100xf32>, tensor<f32>, tensor<100xcomplex<f32>>) {
  %small = arith.constant dense<3.0> : tensor<64xf32>
  %empty = arith.constant dense<3.0> : tensor<0x100xf32>
  %scalar = arith.constant dense<3.0> : tensor<f32>
  %complex = arith.constant dense<(1.0, 2.0)> : tensor<100xcomplex<f32>>
  return %small, %empty, %scalar, %complex : tensor<64xf32>, tensor<0x100xf32>, tensor<f32>, tensor<100xcomplex<f32>>
}

// A loop fills a tensor of its own, which is then one kernel with what it does in each round; what
// reads elements of one does so in front of its own body.
// CHECK-LABEL: func.func @in_a_loop(
// CHECK:         scf.for
// CHECK:           %[[FILLED:.*]] = linalg.generic
// CHECK:             arith.constant 3.000000e+00 : f32
// CHECK:           linalg.generic {{.*}} ins(%[[FILLED]] :
// CHECK-NEXT:      ^bb0
// CHECK-NEXT:        tensor.extract %[[FILLED]]
// CHECK:           scf.yield
func.func @in_a_loop(%x: tensor<100xf32>, %count: index) -> tensor<100xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %0 = arith.constant dense<3.0> : tensor<100xf32>
  %1 = scf.for %i = %zero to %count step %one iter_args(%before = %x) -> (tensor<100xf32>) {
    %2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%0 : tensor<100xf32>) outs(%before : tensor<100xf32>) {
    ^bb0(%in: f32, %out: f32):
      %3 = tensor.extract %0[%i] : tensor<100xf32>
      %4 = arith.mulf %in, %3 : f32
      %5 = arith.addf %out, %4 : f32
      linalg.yield %5 : f32
    } -> tensor<100xf32>
    scf.yield %2 : tensor<100xf32>
  }
  return %1 : tensor<100xf32>
}
