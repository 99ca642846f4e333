// A mistake gives a message and exit status 1, and no traceback.

// RUN: not tcp-opt %s --no-such-flag 2>&1 | FileCheck %s --check-prefix=FLAG
// RUN: not tcp-opt %s --tcp-canonicalise 2>&1 | FileCheck %s --check-prefix=CLOSE
// RUN: not tcp-opt %s --load-pass-plugin=x.so 2>&1 | FileCheck %s --check-prefix=UNAVAILABLE
// RUN: not tcp-opt %t-missing 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not tcp-opt %s %s 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not tcp-opt %s -o /no/such/folder/file 2>&1 | FileCheck %s --check-prefix=OUTPUT
// RUN: not tcp-opt %s --verify-each=perhaps 2>&1 | FileCheck %s --check-prefix=TRUTH
// RUN: not tcp-opt %s --mlir-elide-elementsattrs-if-larger=x 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not tcp-opt %s --mlir-print-ir-after=nothing 2>&1 | FileCheck %s --check-prefix=AFTER
// RUN: not tcp-opt %s --pass-pipeline 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: not tcp-opt %s --pass-pipeline=cse 2>&1 | FileCheck %s --check-prefix=ANCHOR
// RUN: not tcp-opt %s --pass-pipeline='builtin.module(cse)' --cse 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not tcp-opt %s --pass-pipeline='builtin.module(func.func(cse),no-such-pass)' 2>&1 | FileCheck %s --check-prefix=PASS
// RUN: not tcp-opt %s --pass-pipeline='builtin.module(func.func(cse)' 2>&1 | FileCheck %s --check-prefix=OPEN
// RUN: not tcp-opt %s --pass-pipeline='builtin.module(cse))' 2>&1 | FileCheck %s --check-prefix=CLOSED
// RUN: not tcp-opt %s --canonicalize=no-such-option=1 2>&1 | FileCheck %s --check-prefix=UPSTREAM-OPTION
// RUN: not tcp-opt %s --tcp-canonicalize=no-such-option=1 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not tcp-opt %s --pass-pipeline='func.func(cse)' 2>&1 | FileCheck %s --check-prefix=WHERE

// FLAG:          tcp-opt: Unknown command line argument '--no-such-flag'.  Try: 'tcp-opt --help'
// FLAG-NOT:      Traceback

// CLOSE:         Unknown command line argument '--tcp-canonicalise'
// CLOSE-NEXT:    tcp-opt: Did you mean '--tcp-canonicalize'?

// UNAVAILABLE:   tcp-opt: for the --load-pass-plugin option: not available here: the bindings load no plugins

// MISSING:       cannot open input file '{{.*}}-missing': No such file or directory
// MISSING-NOT:   Traceback

// TWO:           tcp-opt: Too many positional arguments specified!

// OUTPUT:        cannot open output file '/no/such/folder/file': No such file or directory
// OUTPUT-NOT:    Traceback

// TRUTH:         for the --verify-each option: 'perhaps' is invalid value for boolean argument! Try 0 or 1

// NUMBER:        'x' value invalid for uint argument!

// AFTER:         for the --mlir-print-ir-after option: Cannot find option named 'nothing'!

// VALUE:         for the --pass-pipeline option: requires a value!

// ANCHOR:        error: expected pass pipeline to be wrapped with the anchor operation type, e.g. 'builtin.module(...)'

// BOTH:          error: '-pass-pipeline' option can't be used with individual pass options

// PASS:          error: MLIR Textual PassPipeline Parser:1:16: error: 'no-such-pass' does not refer to a registered pass or pass pipeline
// PASS-NEXT:     func.func(cse),no-such-pass
// PASS-NEXT:     {{^ {15}\^}}

// OPEN:          encountered unbalanced parentheses while parsing pipeline

// CLOSED:        encountered extra closing ')' creating unbalanced parentheses while parsing pipeline

// UPSTREAM-OPTION: error: <Pass-Options-Parser>: no such option no-such-option
// UPSTREAM-OPTION: error: failed to add `canonicalize` with options `no-such-option=1`

// OPTION:        error: <Pass-Options-Parser>: no such option no-such-option
// OPTION:        error: failed to add `tcp-canonicalize` with options `no-such-option=1`

// WHERE:         mistakes.mlir:{{.*}}: error: can't run 'func.func' pass manager on 'builtin.module' op
func.func @f() {
  return
}
