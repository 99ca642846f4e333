// RUN: tcp-opt %s -split-input-file -pass-pipeline='builtin.module(gpu.module(call-intrinsics))' -verify-diagnostics | FileCheck %s

// CHECK-LABEL: gpu.func @instructions(
// CHECK:         llvm.call_intrinsic "llvm.sqrt.f32"(%{{.*}}) : (f32) -> f32
// CHECK:         %[[ROOT:.*]] = llvm.call_intrinsic "llvm.sqrt.f64"(%{{.*}}) : (f64) -> f64
// CHECK:         arith.divf %{{.*}}, %[[ROOT]] : f64
// CHECK-NOT:     math.
gpu.module @kernels {
  gpu.func @instructions(%x: memref<f32>, %y: memref<f64>) kernel {
    %0 = memref.load %x[] : memref<f32>
    %1 = math.sqrt %0 : f32
    memref.store %1, %x[] : memref<f32>
    %2 = memref.load %y[] : memref<f64>
    %3 = math.rsqrt %2 : f64
    memref.store %3, %y[] : memref<f64>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @functions(%x: memref<f64>) kernel {
    %0 = memref.load %x[] : memref<f64>
    // expected-error@+1 {{math.acos on f64: no kernel of a GPU does this yet; compile the program for the host}}
    %1 = math.acos %0 : f64
    memref.store %1, %x[] : memref<f64>
    gpu.return
  }
}
