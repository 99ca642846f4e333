// A dialect can be defined in a file: this is one.
// RUN: tcp-opt %S/irdl_use.mlir --irdl-file=%s | FileCheck %s
// RUN: not tcp-opt %S/irdl_use.mlir 2>&1 | FileCheck %s --check-prefix=WITHOUT
// RUN: not tcp-opt %S/irdl_use.mlir --irdl-file=%t.none 2>&1 | FileCheck %s --check-prefix=MISSING

// CHECK:   "example.twice"(%arg0) : (f32) -> f32
// WITHOUT: irdl_use.mlir:{{.*}} error: {{.*}}unregistered dialect
// MISSING: cannot open input file
irdl.dialect @example {
  irdl.operation @twice {
    %0 = irdl.any
    irdl.operands(in: %0)
    irdl.results(out: %0)
  }
}
