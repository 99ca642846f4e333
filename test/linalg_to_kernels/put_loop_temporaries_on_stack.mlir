// RUN: tcp-opt %s -put-loop-temporaries-on-stack -split-input-file | FileCheck %s

// The stack's space is the function's, as a loop would take more in each round. What is large, of a
// size that is not known, outside of loops, or handed on to the next round stays where it is.
// CHECK-LABEL: func.func @rounds(
// CHECK-NEXT:    %[[SMALL:.*]] = memref.alloca() {alignment = 64 : i64} : memref<16xf64>
// CHECK-NOT:     memref.alloca
// CHECK:         memref.alloc() : memref<f64>
// CHECK:         scf.for
// CHECK:           memref.store %{{.*}}, %[[SMALL]]
// CHECK-DAG:       memref.alloc() : memref<17xf64>
// CHECK-DAG:       memref.alloc(%{{.*}}) : memref<?xf64>
// CHECK-DAG:       %[[NEXT:.*]] = memref.alloc() : memref<2xf64>
// CHECK-NOT:       memref.dealloc %[[SMALL]]
// CHECK:           scf.yield %[[NEXT]]
func.func @rounds(%n: index, %x: f64, %first: memref<2xf64>) -> memref<2xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %outside = memref.alloc() : memref<f64>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%given = %first) -> (memref<2xf64>) {
    %small = memref.alloc() {alignment = 64 : i64} : memref<16xf64>
    memref.store %x, %small[%c1] : memref<16xf64>
    %large = memref.alloc() : memref<17xf64>
    %unknown = memref.alloc(%n) : memref<?xf64>
    %next = memref.alloc() : memref<2xf64>
    memref.dealloc %given : memref<2xf64>
    memref.dealloc %small : memref<16xf64>
    memref.dealloc %large : memref<17xf64>
    memref.dealloc %unknown : memref<?xf64>
    scf.yield %next : memref<2xf64>
  }
  memref.dealloc %outside : memref<f64>
  return %last : memref<2xf64>
}

// -----

// A kernel has its own ways with memory.
// CHECK-LABEL: func.func private @kernel(
// CHECK-NOT:     memref.alloca
func.func private @kernel(%n: index) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %small = memref.alloc() : memref<f64>
    memref.dealloc %small : memref<f64>
  }
  return
}
