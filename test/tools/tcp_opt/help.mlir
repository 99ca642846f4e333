// RUN: tcp-opt --help | FileCheck %s
// RUN: tcp-opt --list-passes | FileCheck %s --check-prefix=LIST

// CHECK:      USAGE: tcp-opt [options] <input file>
// CHECK:      --split-input-file
// CHECK:      Options of mlir-opt that are not available here, and why:
// CHECK-NEXT: --elide-resource-data-from-bytecode {{ +}}the bindings
// CHECK:      Passes of Plumbline:
// CHECK:      --convert-torch-to-tcp {{ +}}Convert ops of the Torch dialect that TCP has ops for
// CHECK-NEXT:   convert-torch-ops=<a,b>
// CHECK:      Pipelines of Plumbline:
// CHECK:      --tcp-to-llvm-pipeline {{ +}}Lower TCP to the LLVM dialect, for a CPU
// CHECK:      Passes and pipelines of the MLIR bindings
// CHECK:      --canonicalize {{.*}}max-iterations=10
// CHECK:      --composite-fixed-point-pass
// CHECK:      --cse
// CHECK:      --torch-decompose-complex-ops

// LIST-NOT:   --split-input-file
// LIST:       --convert-torch-to-tcp
// LIST:       --cse
