// RUN: tcp-opt %s -divide-as-floats | FileCheck %s
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

// By a number that is known LLVM multiplies; no float holds 64 bits; and where there is no loop to
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
