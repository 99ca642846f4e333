// RUN: tcp-opt %s -choose-vector-widths | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: tcp-opt %s '-choose-vector-widths=vector-bytes=64 vector-registers=32' | FileCheck %s --check-prefixes=CHECK,AVX512

// What is computed in f32 fills vectors; of a plain sum in f64 there is nothing more to gain.
// AVX2:          width = 8 : i32
// AVX512:        width = 16 : i32
// CHECK-LABEL: func.func private @loops(
// CHECK:         scf.for
// CHECK:         } {llvm.loop_annotation = #loop_annotation}
// CHECK:         scf.for
// CHECK:           scf.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    return
func.func private @loops(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) -> (f64, f64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f64
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (f64) {
    %a = memref.load %x[%i] : memref<?xf32>
    %b = arith.mulf %a, %a : f32
    %c = arith.mulf %b, %a : f32
    %d = arith.mulf %c, %a : f32
    %e = arith.mulf %d, %a : f32
    %f = arith.addf %e, %b : f32
    %g = arith.addf %f, %a : f32
    %h = arith.mulf %g, %a : f32
    memref.store %h, %y[%i] : memref<?xf32>
    %w = arith.extf %h : f32 to f64
    %r = arith.addf %s, %w fastmath<reassoc> : f64
    scf.yield %r : f64
  }
  %1 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (f64) {
    %a = memref.load %x[%i] : memref<?xf32>
    %w = arith.extf %a : f32 to f64
    %r = arith.addf %s, %w fastmath<reassoc> : f64
    scf.yield %r : f64
  }
  return %0, %1 : f64, f64
}
