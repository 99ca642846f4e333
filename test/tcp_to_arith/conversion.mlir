// RUN: tcp-opt %s -convert-tcp-to-arith | FileCheck %s

// CHECK-LABEL: func.func @constants(
// CHECK-DAG:     %[[F:.*]] = arith.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK-DAG:     %[[I:.*]] = arith.constant dense<true> : tensor<i1>
// CHECK:         %[[NEG:.*]] = tcp.neg %[[F]]
// CHECK:         return %[[NEG]], %[[I]]
func.func @constants() -> (tensor<2xf32>, tensor<i1>) {
  %0 = tcp.const {value = dense<[1.0, 2.0]> : tensor<2xf32>} : tensor<2xf32>
  %1 = tcp.const {value = dense<true> : tensor<i1>} : tensor<i1>
  %2 = tcp.neg %0 : tensor<2xf32> -> tensor<2xf32>
  return %2, %1 : tensor<2xf32>, tensor<i1>
}
