// RUN: tcp-opt %s | FileCheck %s
// RUN: tcp-opt %s | tcp-opt | FileCheck %s
// RUN: tcp-opt < %s | FileCheck %s
// RUN: tcp-opt - < %s | FileCheck %s
// RUN: tcp-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// RUN: tcp-opt %s -mlir-print-op-generic | tcp-opt | FileCheck %s
// RUN: tcp-opt %s -o %t && FileCheck %s < %t
// RUN: tcp-opt %s --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=LOCATION

// CHECK-LABEL: func.func @add(
// CHECK:         tcp.add %arg0, %arg1 : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>

// GENERIC:       "func.func"() <{
// GENERIC:       "tcp.add"(%arg0, %arg1) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>

// LOCATION:      tcp.add %{{.*}}, %{{.*}} : {{.*}} loc("{{.*}}round_trip.mlir":{{[0-9]+}}:8)
func.func @add(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %0 = tcp.add %a, %b : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
