// RUN: tcp-opt %s -choose-vector-widths | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: tcp-opt %s '-choose-vector-widths=vector-bytes=64 vector-registers=32' | FileCheck %s --check-prefixes=CHECK,AVX512
// RUN: tcp-opt %s '-choose-vector-widths=vector-bytes=16 vector-registers=32 vector-scalable=true' | FileCheck %s --check-prefix=SCALABLE
// RUN: not tcp-opt %s '-choose-vector-widths=vector-bytes=64' 2>&1 | FileCheck %s --check-prefix=ALONE

// Where vectors may be scalable, LLVM complains of a width.
// SCALABLE-NOT:  width =
// SCALABLE:      #llvm.loop_interleave<count = 4 : i32>
// ALONE:         vector-bytes and vector-registers are given together, one number each
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
