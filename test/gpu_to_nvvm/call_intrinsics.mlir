// RUN: tcp-opt %s -split-input-file -pass-pipeline='builtin.module(gpu.module(call-intrinsics))' -verify-diagnostics | FileCheck %s

// CHECK-LABEL: gpu.func @instructions(
// CHECK:         llvm.call_intrinsic "llvm.sqrt.f32"(%{{.*}}) : (f32) -> f32
// CHECK:         %[[ROOT:.*]] = llvm.call_intrinsic "llvm.sqrt.f64"(%{{.*}}) : (f64) -> f64
// CHECK:         arith.divf %{{.*}}, %[[ROOT]] : f64
// CHECK:         nvvm.ex2 {{.*}}
// CHECK-NOT:     math.
gpu.module @kernels {
  gpu.func @instructions(%x: memref<f32>, %y: memref<f64>) kernel {
    %0 = memref.load %x[] : memref<f32>
    %1 = math.sqrt %0 : f32
    memref.store %1, %x[] : memref<f32>
    %2 = memref.load %y[] : memref<f64>
    %3 = math.rsqrt %2 : f64
    memref.store %3, %y[] : memref<f64>
    %4 = math.exp2 %0 fastmath<afn> : f32
    memref.store %4, %x[] : memref<f32>
    gpu.return
  }
}

// -----

// As PyTorch does, a double is rounded to f32 first.

// CHECK-LABEL: gpu.func @roundings(
// CHECK:         %[[ONCE:.*]] = arith.truncf %{{.*}} : f64 to f32
// CHECK:         arith.truncf %[[ONCE]] : f32 to bf16
gpu.module @kernels {
  gpu.func @roundings(%x: memref<f64>, %y: memref<bf16>) kernel {
    %0 = memref.load %x[] : memref<f64>
    %1 = arith.truncf %0 : f64 to bf16
    memref.store %1, %y[] : memref<bf16>
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
