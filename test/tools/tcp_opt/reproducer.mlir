// A reproducer is written when a pass fails, with the pipeline and the module before it.
// RUN: not tcp-opt %s -cse -verify-no-tcp-ops --mlir-pass-pipeline-crash-reproducer=%t.failed --verify-each=0 2>&1 | FileCheck %s --check-prefix=FAILED
// RUN: FileCheck %s --check-prefix=FILE < %t.failed
// RUN: not tcp-opt %t.failed --run-reproducer 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: not tcp-opt %t.failed --run-reproducer --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=DUMP

// Without the flag it is a module like any other.
// RUN: tcp-opt %t.failed 2>&1 | FileCheck %s --check-prefix=MODULE

// It is not written when all passes succeed, unless that is asked for.
// RUN: rm -f %t.well %t.asked
// RUN: tcp-opt %s -cse --mlir-pass-pipeline-crash-reproducer=%t.well -o %t
// RUN: not tcp-opt %t.well 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: tcp-opt %s -cse --mlir-generate-reproducer=%t.asked -o %t
// RUN: tcp-opt %t.asked --run-reproducer --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=ASKED

// RUN: not tcp-opt %s --run-reproducer 2>&1 | FileCheck %s --check-prefix=WITHOUT
// RUN: not tcp-opt %s -cse --mlir-generate-reproducer=/no/such/folder/file 2>&1 | FileCheck %s --check-prefix=FOLDER

// FAILED:      reproducer.mlir:{{[0-9]+}}:8: error: 'tcp.tanh' op has no lowering to linalg
// FAILED:      reproducer.mlir:{{[0-9]+}}:1: error: Failures have been detected while processing an MLIR pass pipeline
// FAILED:      note: Pipeline failed on 'builtin.module' operation: reproducer generated at `{{.*}}.failed`

// FILE:        module {
// FILE-NEXT:     func.func @f(
// FILE-NEXT:       tcp.tanh
// FILE:        {-#
// FILE-NEXT:     external_resources: {
// FILE-NEXT:       mlir_reproducer: {
// FILE-NEXT:         pipeline: "builtin.module(cse,verify-no-tcp-ops)",
// FILE-NEXT:         disable_threading: true,
// FILE-NEXT:         verify_each: false
// FILE-NEXT:       }
// FILE-NEXT:     }
// FILE-NEXT:   #-}

// AGAIN:       .failed:3:10: error: 'tcp.tanh' op has no lowering to linalg

// DUMP:        Pass Manager with 2 passes:
// DUMP:          verify-no-tcp-ops

// MODULE-NOT:  warning
// MODULE:      tcp.tanh
// MODULE-NOT:  mlir_reproducer

// NONE:        cannot open input file

// ASKED:       Pass Manager with 1 passes:
// ASKED:         cse

// WITHOUT:     error: {{.*}}reproducer.mlir holds no reproducer, which --run-reproducer runs

// FOLDER:      cannot open output file '/no/such/folder/file': No such file or directory
func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tcp.tanh %x : tensor<2xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
