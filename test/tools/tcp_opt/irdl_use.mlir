// RUN: tcp-opt %s --irdl-file=%S/irdl_file.mlir | FileCheck %s
// RUN: not tcp-opt %s --irdl-file=%s 2>&1 | FileCheck %s --check-prefix=MISTAKEN

// CHECK:        "example.twice"
// MISTAKEN:     irdl_use.mlir:{{[0-9]+}}:{{[0-9]+}}: error: {{.*}}unregistered dialect
// MISTAKEN-NOT: Traceback
func.func @f(%x: f32) -> f32 {
  %0 = "example.twice"(%x) : (f32) -> f32
  return %0 : f32
}
