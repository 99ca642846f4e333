// RUN: tcp-opt %s -choose-vector-widths | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: tcp-opt %s '-choose-vector-widths=vector-bytes=64 vector-registers=32' | FileCheck %s --check-prefixes=CHECK,AVX512
// RUN: tcp-opt %s '-choose-vector-widths=vector-bytes=16 vector-registers=32 vector-scalable=true' | FileCheck %s --check-prefix=SCALABLE
// RUN: not tcp-opt %s '-choose-vector-widths=vector-bytes=64' 2>&1 | FileCheck %s --check-prefix=ALONE

// Where vectors may be scalable, LLVM complains of a width.
// SCALABLE-NOT:  width =
// SCALABLE:      #llvm.loop_interleave<count = 4 : i32>
// ALONE:         vector-bytes and vector-registers are given together, one number each, and scratch-bytes with them alone
// What is computed in f32 fills vectors; of a plain sum in f64 there is nothing more to gain.
// CHECK:         #[[FOUR:.*]] = #llvm.loop_interleave<count = 4 : i32>
// AVX2:          width = 8 : i32
// AVX512:        width = 16 : i32
// CHECK:         #[[INTERLEAVED:.*]] = #llvm.loop_annotation<interleave = #[[FOUR]]>
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

// There is no vector in two iterations, and LLVM would say so.
// CHECK-LABEL: func.func private @two(
// CHECK:         scf.yield
// CHECK-NEXT:    {{^ *\}$}}
// CHECK-NEXT:    return
func.func private @two(%x: memref<?xf32>) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %z = arith.constant 0.0 : f64
  %0 = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %z) -> (f64) {
    %a = memref.load %x[%i] : memref<?xf32>
    %b = arith.mulf %a, %a : f32
    %c = arith.mulf %b, %a : f32
    %d = arith.mulf %c, %a : f32
    %e = arith.mulf %d, %a : f32
    %f = arith.mulf %e, %a : f32
    %g = arith.mulf %f, %a : f32
    %h = arith.mulf %g, %a : f32
    %w = arith.extf %h : f32 to f64
    %r = arith.addf %s, %w fastmath<reassoc> : f64
    scf.yield %r : f64
  }
  return %0 : f64
}

// Nothing is left to do for vectors.
// CHECK-LABEL: func.func private @vectors(
// CHECK:         vector.store
// CHECK-NEXT:    {{^ *\}$}}
func.func private @vectors(%x: memref<?xf32>, %mean: memref<f64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %n step %c8 {
    %m = memref.load %mean[] : memref<f64>
    %a = arith.truncf %m : f64 to f32
    %b = arith.mulf %a, %a : f32
    %c = arith.mulf %b, %a : f32
    %d = arith.mulf %c, %a : f32
    %e = vector.broadcast %d : f32 to vector<8xf32>
    vector.store %e, %x[%i] : memref<?xf32>, vector<8xf32>
  }
  return
}

// A long chain of operations for each element: those of several vectors are done at once.
// CHECK-LABEL: func.func private @long(
// CHECK:         } {llvm.loop_annotation = #[[INTERLEAVED]]}
func.func private @long(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %0 = memref.load %x[%i] : memref<?xf32>
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.mulf %1, %1 : f32
    %3 = arith.mulf %2, %2 : f32
    %4 = arith.mulf %3, %3 : f32
    %5 = arith.mulf %4, %4 : f32
    %6 = arith.mulf %5, %5 : f32
    %7 = arith.mulf %6, %6 : f32
    %8 = arith.mulf %7, %7 : f32
    %9 = arith.mulf %8, %8 : f32
    %10 = arith.mulf %9, %9 : f32
    %11 = arith.mulf %10, %10 : f32
    %12 = arith.mulf %11, %11 : f32
    %13 = arith.mulf %12, %12 : f32
    %14 = arith.mulf %13, %13 : f32
    %15 = arith.mulf %14, %14 : f32
    %16 = arith.mulf %15, %15 : f32
    memref.store %16, %y[%i] : memref<?xf32>
  }
  return
}

// CHECK-LABEL: func.func private @short(
// CHECK:         memref.store
// CHECK-NEXT:    }
func.func private @short(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %0 = memref.load %x[%i] : memref<?xf32>
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.mulf %1, %1 : f32
    %3 = arith.mulf %2, %2 : f32
    %4 = arith.mulf %3, %3 : f32
    %5 = arith.mulf %4, %4 : f32
    %6 = arith.mulf %5, %5 : f32
    %7 = arith.mulf %6, %6 : f32
    %8 = arith.mulf %7, %7 : f32
    %9 = arith.mulf %8, %8 : f32
    %10 = arith.mulf %9, %9 : f32
    %11 = arith.mulf %10, %10 : f32
    %12 = arith.mulf %11, %11 : f32
    %13 = arith.mulf %12, %12 : f32
    %14 = arith.mulf %13, %13 : f32
    %15 = arith.mulf %14, %14 : f32
    memref.store %15, %y[%i] : memref<?xf32>
  }
  return
}

// As many operations, but not one after the other.
// CHECK-LABEL: func.func private @wide(
// CHECK:         memref.store
// CHECK-NEXT:    }
func.func private @wide(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %0 = memref.load %x[%i] : memref<?xf32>
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.mulf %0, %0 : f32
    %3 = arith.mulf %1, %0 : f32
    %4 = arith.mulf %2, %0 : f32
    %5 = arith.mulf %3, %0 : f32
    %6 = arith.mulf %4, %0 : f32
    %7 = arith.mulf %5, %0 : f32
    %8 = arith.mulf %6, %0 : f32
    %9 = arith.mulf %7, %0 : f32
    %10 = arith.mulf %8, %0 : f32
    %11 = arith.mulf %9, %0 : f32
    %12 = arith.mulf %10, %0 : f32
    %13 = arith.mulf %11, %0 : f32
    %14 = arith.mulf %12, %0 : f32
    %15 = arith.mulf %13, %0 : f32
    %16 = arith.mulf %14, %0 : f32
    %17 = arith.mulf %15, %0 : f32
    %18 = arith.mulf %16, %0 : f32
    %19 = arith.mulf %17, %0 : f32
    %20 = arith.mulf %18, %0 : f32
    %21 = arith.mulf %19, %0 : f32
    %22 = arith.mulf %20, %0 : f32
    %23 = arith.mulf %21, %0 : f32
    %24 = arith.mulf %22, %0 : f32
    %25 = arith.mulf %23, %0 : f32
    %26 = arith.mulf %24, %0 : f32
    %27 = arith.mulf %25, %0 : f32
    %28 = arith.mulf %26, %0 : f32
    %29 = arith.mulf %27, %0 : f32
    %30 = arith.mulf %28, %0 : f32
    memref.store %30, %y[%i] : memref<?xf32>
  }
  return
}

// Four vectors at once are done twice at least.
// CHECK-LABEL: func.func private @few(
// CHECK:         memref.store
// CHECK-NEXT:    {{^ *\}$}}
func.func private @few(%x: memref<63xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c63 = arith.constant 63 : index
  scf.for %i = %c0 to %c63 step %c1 {
    %0 = memref.load %x[%i] : memref<63xf32>
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.mulf %1, %1 : f32
    %3 = arith.mulf %2, %2 : f32
    %4 = arith.mulf %3, %3 : f32
    %5 = arith.mulf %4, %4 : f32
    %6 = arith.mulf %5, %5 : f32
    %7 = arith.mulf %6, %6 : f32
    %8 = arith.mulf %7, %7 : f32
    %9 = arith.mulf %8, %8 : f32
    %10 = arith.mulf %9, %9 : f32
    %11 = arith.mulf %10, %10 : f32
    %12 = arith.mulf %11, %11 : f32
    %13 = arith.mulf %12, %12 : f32
    %14 = arith.mulf %13, %13 : f32
    %15 = arith.mulf %14, %14 : f32
    %16 = arith.mulf %15, %15 : f32
    memref.store %16, %x[%i] : memref<63xf32>
  }
  return
}

// CHECK-LABEL: func.func private @enough(
// CHECK:         memref.store
// CHECK-NEXT:    } {llvm.loop_annotation = #[[INTERLEAVED]]}
func.func private @enough(%x: memref<128xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  scf.for %i = %c0 to %c128 step %c1 {
    %0 = memref.load %x[%i] : memref<128xf32>
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.mulf %1, %1 : f32
    %3 = arith.mulf %2, %2 : f32
    %4 = arith.mulf %3, %3 : f32
    %5 = arith.mulf %4, %4 : f32
    %6 = arith.mulf %5, %5 : f32
    %7 = arith.mulf %6, %6 : f32
    %8 = arith.mulf %7, %7 : f32
    %9 = arith.mulf %8, %8 : f32
    %10 = arith.mulf %9, %9 : f32
    %11 = arith.mulf %10, %10 : f32
    %12 = arith.mulf %11, %11 : f32
    %13 = arith.mulf %12, %12 : f32
    %14 = arith.mulf %13, %13 : f32
    %15 = arith.mulf %14, %14 : f32
    %16 = arith.mulf %15, %15 : f32
    memref.store %16, %x[%i] : memref<128xf32>
  }
  return
}

// Of three chains side by side each waits for itself alone.
// CHECK-LABEL: func.func private @side_by_side(
// CHECK:         memref.store
// CHECK:         memref.store
// CHECK:         memref.store
// CHECK-NEXT:    {{^ *\}$}}
func.func private @side_by_side(%in: memref<?xf32>, %p: memref<?xf32>, %q: memref<?xf32>, %r: memref<?xf32>, %x: f32, %y: f32, %z: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %in[%i] : memref<?xf32>
    %p0 = arith.mulf %a, %x : f32
    %p1 = arith.mulf %p0, %a : f32
    %p2 = arith.mulf %p1, %a : f32
    %p3 = arith.mulf %p2, %a : f32
    %p4 = arith.mulf %p3, %a : f32
    %p5 = arith.mulf %p4, %a : f32
    %p6 = arith.mulf %p5, %a : f32
    %p7 = arith.mulf %p6, %a : f32
    %p8 = arith.mulf %p7, %a : f32
    %p9 = arith.mulf %p8, %a : f32
    %p10 = arith.mulf %p9, %a : f32
    %p11 = arith.mulf %p10, %a : f32
    %p12 = arith.mulf %p11, %a : f32
    %p13 = arith.mulf %p12, %a : f32
    %p14 = arith.mulf %p13, %a : f32
    %p15 = arith.mulf %p14, %a : f32
    memref.store %p15, %p[%i] : memref<?xf32>
    %q0 = arith.mulf %a, %y : f32
    %q1 = arith.mulf %q0, %a : f32
    %q2 = arith.mulf %q1, %a : f32
    %q3 = arith.mulf %q2, %a : f32
    %q4 = arith.mulf %q3, %a : f32
    %q5 = arith.mulf %q4, %a : f32
    %q6 = arith.mulf %q5, %a : f32
    %q7 = arith.mulf %q6, %a : f32
    %q8 = arith.mulf %q7, %a : f32
    %q9 = arith.mulf %q8, %a : f32
    %q10 = arith.mulf %q9, %a : f32
    %q11 = arith.mulf %q10, %a : f32
    %q12 = arith.mulf %q11, %a : f32
    %q13 = arith.mulf %q12, %a : f32
    %q14 = arith.mulf %q13, %a : f32
    %q15 = arith.mulf %q14, %a : f32
    memref.store %q15, %q[%i] : memref<?xf32>
    %r0 = arith.mulf %a, %z : f32
    %r1 = arith.mulf %r0, %a : f32
    %r2 = arith.mulf %r1, %a : f32
    %r3 = arith.mulf %r2, %a : f32
    %r4 = arith.mulf %r3, %a : f32
    %r5 = arith.mulf %r4, %a : f32
    %r6 = arith.mulf %r5, %a : f32
    %r7 = arith.mulf %r6, %a : f32
    %r8 = arith.mulf %r7, %a : f32
    %r9 = arith.mulf %r8, %a : f32
    %r10 = arith.mulf %r9, %a : f32
    %r11 = arith.mulf %r10, %a : f32
    %r12 = arith.mulf %r11, %a : f32
    %r13 = arith.mulf %r12, %a : f32
    %r14 = arith.mulf %r13, %a : f32
    %r15 = arith.mulf %r14, %a : f32
    memref.store %r15, %r[%i] : memref<?xf32>
  }
  return
}
