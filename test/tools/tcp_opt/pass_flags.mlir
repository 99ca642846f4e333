// Passes run in the order of their flags, ours and MLIR's alike, with one dash or two.
// RUN: tcp-opt %s -convert-tcp-to-arith --canonicalize -cse --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: tcp-opt %s --cse -convert-tcp-to-arith --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=OTHER-ORDER

// A pass for functions is nested in one; options stand after the flag.
// RUN: tcp-opt %s --canonicalize="max-iterations=3 top-down=false" -refback-munge-memref-copy -convert-torch-to-tcp=convert-torch-ops=aten.tanh,aten.exp --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=OPTIONS

// RUN: tcp-opt %s --pass-pipeline='builtin.module(func.func(convert-tcp-to-arith,canonicalize),cse)' --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=NESTED

// What canonicalize is to do for TCP, a pass of its own does.
// ORDER:      Pass Manager with 4 passes:
// ORDER-NEXT: builtin.module(
// ORDER-NEXT:   convert-tcp-to-arith,
// ORDER-NEXT:   canonicalize{
// ORDER-NEXT:   tcp-merge-constants,
// ORDER-NEXT:   cse
// ORDER-NEXT: )
// ORDER:        arith.constant dense<1.000000e+00>

// OTHER-ORDER:      Pass Manager with 2 passes:
// OTHER-ORDER-NEXT: builtin.module(
// OTHER-ORDER-NEXT:   cse,
// OTHER-ORDER-NEXT:   convert-tcp-to-arith
// OTHER-ORDER-NEXT: )

// OPTIONS:      Pass Manager with 4 passes:
// OPTIONS-NEXT: builtin.module(
// OPTIONS-NEXT:   canonicalize{{{.*}}max-iterations=3{{.*}}top-down=false},
// OPTIONS-NEXT:   tcp-merge-constants,
// OPTIONS-NEXT:   func.func(
// OPTIONS-NEXT:     refback-munge-memref-copy
// OPTIONS-NEXT:   ),
// OPTIONS-NEXT:   convert-torch-to-tcp{convert-torch-ops=aten.tanh,aten.exp}
// OPTIONS-NEXT: )

// NESTED:      Pass Manager with 2 passes:
// NESTED-NEXT: builtin.module(
// NESTED-NEXT:   func.func(
// NESTED-NEXT:     convert-tcp-to-arith,
// NESTED-NEXT:     canonicalize{
// NESTED-NEXT:   ),
// NESTED-NEXT:   cse
// NESTED-NEXT: )
// NESTED:        arith.constant dense<1.000000e+00>
func.func @constant() -> tensor<2xf32> {
  %0 = tcp.const {value = dense<1.0> : tensor<2xf32>} : tensor<2xf32>
  return %0 : tensor<2xf32>
}
