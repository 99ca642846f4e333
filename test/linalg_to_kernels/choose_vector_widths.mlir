// RUN: tcp-opt %s -choose-vector-widths | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: tcp-opt %s '-choose-vector-widths=vector-bytes=64 vector-registers=32' | FileCheck %s --check-prefixes=CHECK,AVX512

// What is computed in f32 fills vectors; of a plain sum in f64 there is nothing more to gain.
// CHECK:         #[[FOUR:.*]] = #llvm.loop_interleave<count = 4 : i32>
// AVX2:          #[[UNROLL:.*]] = #llvm.loop_unroll<disable = true>
// AVX2:          width = 8 : i32
// AVX512:        width = 16 : i32
// CHECK:         #[[INTERLEAVED:.*]] = #llvm.loop_annotation<interleave = #[[FOUR]]>
// AVX2:          #[[ALONE:.*]] = #llvm.loop_annotation<unroll = #[[UNROLL]]>
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
// CHECK-NEXT:    }{{$}}
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

// 12 sums, 3 vectors and an element: of 16 registers none is left for what several turns, unrolled,
// would have at once. Where elements lie side by side, they may be.
// CHECK-LABEL: func.func private @scattered(
// AVX2:          } {llvm.loop_annotation = #[[ALONE]]}
// AVX512:        scf.yield
// AVX512-NEXT:   }
func.func private @scattered(%x: memref<?xf32>, %panel: memref<?xf32>, %n: index) -> vector<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c24 = arith.constant 24 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c196 = arith.constant 196 : index
  %z = arith.constant dense<0.0> : vector<8xf32>
  %sums:12 = scf.for %k = %c0 to %n step %c1 iter_args(%s0 = %z, %s1 = %z, %s2 = %z, %s3 = %z, %s4 = %z, %s5 = %z, %s6 = %z, %s7 = %z, %s8 = %z, %s9 = %z, %s10 = %z, %s11 = %z) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>) {
    %at = arith.muli %k, %c24 : index
    %at8 = arith.addi %at, %c8 : index
    %at16 = arith.addi %at, %c16 : index
    %r0 = vector.load %panel[%at] : memref<?xf32>, vector<8xf32>
    %r1 = vector.load %panel[%at8] : memref<?xf32>, vector<8xf32>
    %r2 = vector.load %panel[%at16] : memref<?xf32>, vector<8xf32>
    %row = arith.muli %k, %c196 : index
    %c0_ = arith.constant 0 : index
    %p0 = arith.addi %c0_, %row : index
    %e0 = memref.load %x[%p0] : memref<?xf32>
    %f0 = vector.broadcast %e0 : f32 to vector<8xf32>
    %m0 = arith.mulf %f0, %r0 fastmath<contract> : vector<8xf32>
    %t0 = arith.addf %s0, %m0 fastmath<contract> : vector<8xf32>
    %m1 = arith.mulf %f0, %r1 fastmath<contract> : vector<8xf32>
    %t1 = arith.addf %s1, %m1 fastmath<contract> : vector<8xf32>
    %m2 = arith.mulf %f0, %r2 fastmath<contract> : vector<8xf32>
    %t2 = arith.addf %s2, %m2 fastmath<contract> : vector<8xf32>
    %c1_ = arith.constant 1 : index
    %p1 = arith.addi %c1_, %row : index
    %e1 = memref.load %x[%p1] : memref<?xf32>
    %f1 = vector.broadcast %e1 : f32 to vector<8xf32>
    %m3 = arith.mulf %f1, %r0 fastmath<contract> : vector<8xf32>
    %t3 = arith.addf %s3, %m3 fastmath<contract> : vector<8xf32>
    %m4 = arith.mulf %f1, %r1 fastmath<contract> : vector<8xf32>
    %t4 = arith.addf %s4, %m4 fastmath<contract> : vector<8xf32>
    %m5 = arith.mulf %f1, %r2 fastmath<contract> : vector<8xf32>
    %t5 = arith.addf %s5, %m5 fastmath<contract> : vector<8xf32>
    %c2_ = arith.constant 2 : index
    %p2 = arith.addi %c2_, %row : index
    %e2 = memref.load %x[%p2] : memref<?xf32>
    %f2 = vector.broadcast %e2 : f32 to vector<8xf32>
    %m6 = arith.mulf %f2, %r0 fastmath<contract> : vector<8xf32>
    %t6 = arith.addf %s6, %m6 fastmath<contract> : vector<8xf32>
    %m7 = arith.mulf %f2, %r1 fastmath<contract> : vector<8xf32>
    %t7 = arith.addf %s7, %m7 fastmath<contract> : vector<8xf32>
    %m8 = arith.mulf %f2, %r2 fastmath<contract> : vector<8xf32>
    %t8 = arith.addf %s8, %m8 fastmath<contract> : vector<8xf32>
    %c3_ = arith.constant 3 : index
    %p3 = arith.addi %c3_, %row : index
    %e3 = memref.load %x[%p3] : memref<?xf32>
    %f3 = vector.broadcast %e3 : f32 to vector<8xf32>
    %m9 = arith.mulf %f3, %r0 fastmath<contract> : vector<8xf32>
    %t9 = arith.addf %s9, %m9 fastmath<contract> : vector<8xf32>
    %m10 = arith.mulf %f3, %r1 fastmath<contract> : vector<8xf32>
    %t10 = arith.addf %s10, %m10 fastmath<contract> : vector<8xf32>
    %m11 = arith.mulf %f3, %r2 fastmath<contract> : vector<8xf32>
    %t11 = arith.addf %s11, %m11 fastmath<contract> : vector<8xf32>
    scf.yield %t0, %t1, %t2, %t3, %t4, %t5, %t6, %t7, %t8, %t9, %t10, %t11 : vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>
  }
  return %sums#0 : vector<8xf32>
}
// CHECK-LABEL: func.func private @side_by_side(
// CHECK:         scf.yield
// CHECK-NEXT:  }
func.func private @side_by_side(%x: memref<?xf32>, %panel: memref<?xf32>, %n: index) -> vector<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c24 = arith.constant 24 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c196 = arith.constant 196 : index
  %z = arith.constant dense<0.0> : vector<8xf32>
  %sums:12 = scf.for %k = %c0 to %n step %c1 iter_args(%s0 = %z, %s1 = %z, %s2 = %z, %s3 = %z, %s4 = %z, %s5 = %z, %s6 = %z, %s7 = %z, %s8 = %z, %s9 = %z, %s10 = %z, %s11 = %z) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>) {
    %at = arith.muli %k, %c24 : index
    %at8 = arith.addi %at, %c8 : index
    %at16 = arith.addi %at, %c16 : index
    %r0 = vector.load %panel[%at] : memref<?xf32>, vector<8xf32>
    %r1 = vector.load %panel[%at8] : memref<?xf32>, vector<8xf32>
    %r2 = vector.load %panel[%at16] : memref<?xf32>, vector<8xf32>
    %c0_ = arith.constant 0 : index
    %p0 = arith.addi %c0_, %k : index
    %e0 = memref.load %x[%p0] : memref<?xf32>
    %f0 = vector.broadcast %e0 : f32 to vector<8xf32>
    %m0 = arith.mulf %f0, %r0 fastmath<contract> : vector<8xf32>
    %t0 = arith.addf %s0, %m0 fastmath<contract> : vector<8xf32>
    %m1 = arith.mulf %f0, %r1 fastmath<contract> : vector<8xf32>
    %t1 = arith.addf %s1, %m1 fastmath<contract> : vector<8xf32>
    %m2 = arith.mulf %f0, %r2 fastmath<contract> : vector<8xf32>
    %t2 = arith.addf %s2, %m2 fastmath<contract> : vector<8xf32>
    %c1_ = arith.constant 1 : index
    %p1 = arith.addi %c1_, %k : index
    %e1 = memref.load %x[%p1] : memref<?xf32>
    %f1 = vector.broadcast %e1 : f32 to vector<8xf32>
    %m3 = arith.mulf %f1, %r0 fastmath<contract> : vector<8xf32>
    %t3 = arith.addf %s3, %m3 fastmath<contract> : vector<8xf32>
    %m4 = arith.mulf %f1, %r1 fastmath<contract> : vector<8xf32>
    %t4 = arith.addf %s4, %m4 fastmath<contract> : vector<8xf32>
    %m5 = arith.mulf %f1, %r2 fastmath<contract> : vector<8xf32>
    %t5 = arith.addf %s5, %m5 fastmath<contract> : vector<8xf32>
    %c2_ = arith.constant 2 : index
    %p2 = arith.addi %c2_, %k : index
    %e2 = memref.load %x[%p2] : memref<?xf32>
    %f2 = vector.broadcast %e2 : f32 to vector<8xf32>
    %m6 = arith.mulf %f2, %r0 fastmath<contract> : vector<8xf32>
    %t6 = arith.addf %s6, %m6 fastmath<contract> : vector<8xf32>
    %m7 = arith.mulf %f2, %r1 fastmath<contract> : vector<8xf32>
    %t7 = arith.addf %s7, %m7 fastmath<contract> : vector<8xf32>
    %m8 = arith.mulf %f2, %r2 fastmath<contract> : vector<8xf32>
    %t8 = arith.addf %s8, %m8 fastmath<contract> : vector<8xf32>
    %c3_ = arith.constant 3 : index
    %p3 = arith.addi %c3_, %k : index
    %e3 = memref.load %x[%p3] : memref<?xf32>
    %f3 = vector.broadcast %e3 : f32 to vector<8xf32>
    %m9 = arith.mulf %f3, %r0 fastmath<contract> : vector<8xf32>
    %t9 = arith.addf %s9, %m9 fastmath<contract> : vector<8xf32>
    %m10 = arith.mulf %f3, %r1 fastmath<contract> : vector<8xf32>
    %t10 = arith.addf %s10, %m10 fastmath<contract> : vector<8xf32>
    %m11 = arith.mulf %f3, %r2 fastmath<contract> : vector<8xf32>
    %t11 = arith.addf %s11, %m11 fastmath<contract> : vector<8xf32>
    scf.yield %t0, %t1, %t2, %t3, %t4, %t5, %t6, %t7, %t8, %t9, %t10, %t11 : vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>
  }
  return %sums#0 : vector<8xf32>
}
