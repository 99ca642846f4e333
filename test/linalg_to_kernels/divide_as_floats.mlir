// RUN: tcp-opt %s -divide-as-floats | FileCheck %s
// RUN: tcp-opt %s '-divide-as-floats=vector-bytes=64 vector-registers=32' | FileCheck %s --check-prefix LONG
// RUN: tcp-opt %s '-divide-as-floats=vector-bytes=16 vector-registers=8' | FileCheck %s --check-prefix ALONE
// RUN: tcp-opt %s '-divide-as-floats=vector-bytes=4 vector-registers=32' | FileCheck %s --check-prefix ALONE

// Nothing divides vectors of floats there.
// ALONE-NOT: arith.divf

// What a loop divides is divided as floats with some bits more; the remainder is what is then left.
// CHECK-LABEL: func.func @narrow(
// CHECK:         %[[N:.*]] = arith.sitofp %[[DIVIDEND:.*]] : i16 to f32
// CHECK:         %[[D:.*]] = arith.sitofp %[[DIVISOR:.*]] : i16 to f32
// CHECK:         %[[Q:.*]] = arith.divf %[[N]], %[[D]] : f32
// CHECK:         %[[WHOLE:.*]] = arith.fptosi %[[Q]] : f32 to i32
// CHECK:         %[[RESULT:.*]] = arith.trunci %[[WHOLE]] : i32 to i16
// CHECK:         memref.store %[[RESULT]], %arg0
// CHECK:         arith.fptosi %{{.*}} : f32 to i32
// CHECK:         %[[Q2:.*]] = arith.trunci
// CHECK:         %[[PRODUCT:.*]] = arith.muli %[[Q2]], %[[DIVISOR]]
// CHECK:         %[[REST:.*]] = arith.subi %[[DIVIDEND]], %[[PRODUCT]]
// CHECK:         memref.store %[[REST]], %arg1
func.func @narrow(%x: memref<100xi16>, %y: memref<100xi16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  scf.for %i = %c0 to %c100 step %c1 {
    %a = memref.load %x[%i] : memref<100xi16>
    %b = memref.load %y[%i] : memref<100xi16>
    %q = arith.divsi %a, %b : i16
    memref.store %q, %x[%i] : memref<100xi16>
    %r = arith.remsi %a, %b : i16
    memref.store %r, %y[%i] : memref<100xi16>
  }
  return
}

// CHECK-LABEL: func.func @wide(
// CHECK:         arith.uitofp %{{.*}} : i32 to f64
// CHECK:         arith.divf %{{.*}} : f64
// CHECK:         arith.fptoui %{{.*}} : f64 to i32
// CHECK-NOT:     arith.trunci
func.func @wide(%x: memref<100xi32>, %y: memref<100xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  scf.for %i = %c0 to %c100 step %c1 {
    %a = memref.load %x[%i] : memref<100xi32>
    %b = memref.load %y[%i] : memref<100xi32>
    %q = arith.divui %a, %b : i32
    memref.store %q, %x[%i] : memref<100xi32>
  }
  return
}

// By a number that is known LLVM multiplies; AVX2 makes no floats of 64 bits; and where there is no loop to
// make vectors of, nothing is gained.
// CHECK-LABEL: func.func @others(
// CHECK-NOT:     arith.divf
// CHECK:         return
func.func @others(%x: memref<100xi16>, %y: memref<100xi64>, %a: i16, %b: i16) -> i16 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %seven = arith.constant 7 : i16
  scf.for %i = %c0 to %c100 step %c1 {
    %n = memref.load %x[%i] : memref<100xi16>
    %q = arith.divsi %n, %seven : i16
    memref.store %q, %x[%i] : memref<100xi16>
    %m = memref.load %y[%i] : memref<100xi64>
    %r = arith.divsi %m, %m : i64
    memref.store %r, %y[%i] : memref<100xi64>
  }
  %d = arith.divsi %a, %b : i16
  return %d : i16
}

// A quotient of floats may be off, and is followed by that of what is left, the nearest number; where
// nothing remains but less than that, it is one less. Numbers without a sign have a bit more.
// LONG-LABEL: func.func @long(
// LONG:         %[[N:.*]] = math.absi %[[DIVIDEND:.*]] : i64
// LONG:         %[[D:.*]] = math.absi %[[DIVISOR:.*]] : i64
// LONG:         %[[INVERSE:.*]] = arith.divf %{{.*}} : f64
// LONG:         %[[QUOTIENT:.*]] = arith.mulf %{{.*}}, %[[INVERSE]] : f64
// LONG:         %[[FIRST:.*]] = arith.fptoui %[[QUOTIENT]] : f64 to i64
// LONG:         %[[PRODUCT:.*]] = arith.muli %[[FIRST]], %[[D]] : i64
// LONG:         %[[LEFT:.*]] = arith.subi %[[N]], %[[PRODUCT]] : i64
// LONG:         arith.sitofp %[[LEFT]] : i64 to f64
// LONG:         %[[SECOND:.*]] = arith.subi
// LONG:         %[[BELOW:.*]] = arith.cmpi slt
// LONG:         %[[SUM:.*]] = arith.addi %[[FIRST]], %[[SECOND]] : i64
// LONG:         arith.extsi %[[BELOW]] : i1 to i64
// LONG:         %[[SIGN:.*]] = arith.xori %[[DIVIDEND]], %[[DIVISOR]] : i64
// LONG:         arith.fptoui
// LONG-NOT:     arith.fptoui
// LONG:         arith.divui
// CHECK-LABEL: func.func @long(
// CHECK-NOT:     arith.divf
func.func @long(%x: memref<100xi64>, %y: memref<100xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  scf.for %i = %c0 to %c100 step %c1 {
    %a = memref.load %x[%i] : memref<100xi64>
    %b = memref.load %y[%i] : memref<100xi64>
    %q = arith.divsi %a, %b : i64
    memref.store %q, %x[%i] : memref<100xi64>
    %r = arith.remsi %a, %b : i64
    memref.store %r, %y[%i] : memref<100xi64>
    %u = arith.divui %a, %b : i64
    memref.store %u, %y[%i] : memref<100xi64>
  }
  return
}
