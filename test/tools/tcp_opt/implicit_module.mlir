// RUN: tcp-opt %s | FileCheck %s --check-prefix=MODULE
// RUN: tcp-opt %s --no-implicit-module | FileCheck %s --check-prefix=NONE
// RUN: tcp-opt %s --no-implicit-module -convert-tcp-to-arith -cse | FileCheck %s --check-prefix=FLAGS
// RUN: tcp-opt %s --no-implicit-module --pass-pipeline='func.func(convert-tcp-to-arith)' | FileCheck %s --check-prefix=FLAGS
// RUN: not tcp-opt %s --no-implicit-module --pass-pipeline='builtin.module(cse)' 2>&1 | FileCheck %s --check-prefix=ANCHOR
// RUN: not tcp-opt %S/two_operations.mlir --no-implicit-module 2>&1 | FileCheck %s --check-prefix=TWO

// MODULE:      module {
// MODULE-NEXT:   func.func @f()

// NONE-NOT:    module
// NONE:        {{^}}func.func @f() -> tensor<2xf32> {
// NONE-NEXT:     tcp.const
// NONE-NOT:    module

// FLAGS-NOT:   module
// FLAGS:       {{^}}func.func @f() -> tensor<2xf32> {
// FLAGS-NEXT:    arith.constant

// ANCHOR:      implicit_module.mlir:{{.*}} error: can't run 'builtin.module' pass manager on 'func.func' op

// TWO:         two_operations.mlir:0:0: error: source must contain a single top-level operation, found: 2
func.func @f() -> tensor<2xf32> {
  %0 = tcp.const {value = dense<1.0> : tensor<2xf32>} : tensor<2xf32>
  return %0 : tensor<2xf32>
}
