// RUN: tcp-opt %s -tcp-canonicalize -cse --mlir-print-ir-after-all 2>&1 | FileCheck %s --check-prefix=AFTER-ALL
// RUN: tcp-opt %s -tcp-canonicalize -cse --mlir-print-ir-before=cse -o %t 2>&1 | FileCheck %s --check-prefix=BEFORE
// RUN: tcp-opt %s -tcp-canonicalize -cse --mlir-print-ir-after=tcp-canonicalize -o %t 2>&1 | FileCheck %s --check-prefix=AFTER
// RUN: tcp-opt %s -tcp-canonicalize -tcp-canonicalize --mlir-print-ir-after-change -mlir-print-ir-after-all -o %t 2>&1 | FileCheck %s --check-prefix=CHANGE
// RUN: tcp-opt %s --pass-pipeline='builtin.module(func.func(tcp-canonicalize))' --mlir-print-ir-after-all -o %t 2>&1 | FileCheck %s --check-prefix=NESTED
// RUN: tcp-opt %s -tcp-canonicalize --mlir-print-ir-after-all --mlir-print-op-generic -o %t 2>&1 | FileCheck %s --check-prefix=GENERIC
// RUN: not tcp-opt %s -tcp-canonicalize -verify-no-tcp-ops --mlir-print-ir-after-failure -o %t 2>&1 | FileCheck %s --check-prefix=FAILURE

// AFTER-ALL:      // -----// IR Dump After TcpCanonicalize: tcp-canonicalize //----- //
// AFTER-ALL:        tcp.tanh %arg0 : tensor<?xf32> -> tensor<?xf32>
// AFTER-ALL:      // -----// IR Dump After CSEPass: cse //----- //
// AFTER-ALL:        tcp.tanh %arg0 : tensor<?xf32> -> tensor<?xf32>

// BEFORE-NOT:     TcpCanonicalize
// BEFORE:         // -----// IR Dump Before CSEPass: cse //----- //
// BEFORE:           tcp.tanh
// BEFORE-NOT:     IR Dump

// AFTER:          // -----// IR Dump After TcpCanonicalize: tcp-canonicalize //----- //
// AFTER:            tcp.tanh
// AFTER-NOT:      IR Dump

// CHANGE:         // -----// IR Dump After TcpCanonicalize
// CHANGE-NOT:     IR Dump

// What runs a pass of ours on nested ops does not show; the pass does, on each function.
// NESTED-NOT:     Nested
// NESTED:         // -----// IR Dump After TcpCanonicalize: tcp-canonicalize //----- //
// NESTED-NEXT:    func.func @f(
// NESTED-NOT:     IR Dump

// GENERIC:        // -----// IR Dump After TcpCanonicalize
// GENERIC:          "tcp.tanh"(%arg0)

// FAILURE-NOT:    IR Dump After TcpCanonicalize
// FAILURE:        error: 'tcp.tanh' op has no lowering to linalg
// FAILURE:        // -----// IR Dump After VerifyNoTcpOps Failed: verify-no-tcp-ops //----- //
// FAILURE:          tcp.tanh %arg0 : tensor<?xf32> -> tensor<?xf32>

func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = tcp.tanh %x : tensor<?xf32> -> tensor<?xf32>
  %1 = tcp.transpose %0 {permutation = [0]} : tensor<?xf32> -> tensor<?xf32>
  return %1 : tensor<?xf32>
}
