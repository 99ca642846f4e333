// RUN: not tcp-opt %s -cse 2>&1 | FileCheck %s
// RUN: tcp-opt %s --allow-unregistered-dialect -cse | FileCheck %s --check-prefix=ALLOWED

// CHECK:   unregistered.mlir:{{.*}}: error: {{.*}}unregistered dialect
// ALLOWED: "unknown.op"() : () -> ()
func.func @f() {
  "unknown.op"() : () -> ()
  return
}
