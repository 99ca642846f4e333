// Statistics are counted by no pass of the bindings, which --help says; the report is MLIR's.
// RUN: tcp-opt %s -cse --mlir-pass-statistics -o %t 2>&1 | FileCheck %s
// RUN: tcp-opt %s -cse --mlir-pass-statistics --mlir-pass-statistics-display=list -o %t 2>&1 | FileCheck %s
// RUN: not tcp-opt %s --mlir-pass-statistics-display=tree 2>&1 | FileCheck %s --check-prefix=DISPLAY
// RUN: tcp-opt --help | FileCheck %s --check-prefix=HELP

// CHECK:   ... Pass statistics report ...
// DISPLAY: tcp-opt: for the --mlir-pass-statistics-display option: Cannot find option named 'tree'!
// HELP:    --mlir-pass-statistics {{.*}}empty
func.func @f() {
  return
}
