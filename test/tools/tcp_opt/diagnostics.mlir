// Which diagnostics are printed; an error fails all the same.
// RUN: not tcp-opt %s 2>&1 | FileCheck %s --check-prefixes=ERROR,NOTE
// RUN: not tcp-opt %s --mlir-disable-diagnostic-notes 2>&1 | FileCheck %s --check-prefixes=ERROR,NO-NOTE
// RUN: tcp-opt %S/remark.mlir -transform-interpreter 2>&1 | FileCheck %S/remark.mlir --check-prefix=REMARK
// RUN: tcp-opt %S/remark.mlir -transform-interpreter --mlir-diagnostic-verbosity-level=warnings 2>&1 | FileCheck %S/remark.mlir --check-prefix=NO-REMARK
// RUN: not tcp-opt %s --mlir-diagnostic-verbosity-level=errors 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: not tcp-opt %s --mlir-diagnostic-verbosity-level=all 2>&1 | FileCheck %s --check-prefix=LEVEL

// ERROR:        error: use of value '%x' expects different type than prior uses
// NOTE:         note: prior use here
// NO-NOTE-NOT:  note:
// LEVEL:        tcp-opt: for the --mlir-diagnostic-verbosity-level option: Cannot find option named 'all'!
func.func @f(%x: tensor<2xf32>) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}
