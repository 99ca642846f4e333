// RUN: tcp-opt %s -canonicalize | FileCheck %s
// RUN: tcp-opt %s -tcp-merge-constants -canonicalize=top-down=false | FileCheck %s
// RUN: tcp-opt %s --pass-pipeline='builtin.module(func.func(tcp-merge-constants,canonicalize))' | FileCheck %s

// Equal constants are one, as those of MLIR's dialects; what is not used goes.

// CHECK-LABEL: func.func @equal(
// CHECK-NEXT:    %[[ONE:.*]] = tcp.const {value = dense<[1.000000e+00, 2.000000e+00]>
// CHECK-NEXT:    %[[OTHER:.*]] = tcp.const {value = dense<[2.000000e+00, 1.000000e+00]>
// CHECK-NEXT:    return %[[ONE]], %[[ONE]], %[[OTHER]]
func.func @equal() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %0 = tcp.const {value = dense<[1.0, 2.0]> : tensor<2xf32>} : tensor<2xf32>
  %1 = tcp.const {value = dense<[1.0, 2.0]> : tensor<2xf32>} : tensor<2xf32>
  %2 = tcp.const {value = dense<[2.0, 1.0]> : tensor<2xf32>} : tensor<2xf32>
  %3 = tcp.const {value = dense<[3.0, 1.0]> : tensor<2xf32>} : tensor<2xf32>
  return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
