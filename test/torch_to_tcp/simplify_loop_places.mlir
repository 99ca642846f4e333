// RUN: tcp-opt %s -simplify-loop-places -canonicalize | FileCheck %s

// A slice of one place that a loop counts: it is where the count is, and one place long.
// CHECK-LABEL: func.func @counted(
// CHECK:         scf.for %[[I:.*]] = %c0 to %[[N:.*]] step %c1
// CHECK-NEXT:      func.call @place(%[[I]], %c1, %true)
func.func @counted(%x: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %same = tensor.dim %x, %c0 : tensor<?xf32>
    %negative = arith.cmpi slt, %i, %c0 : index
    %from_end = arith.addi %i, %same : index
    %0 = arith.select %negative, %from_end, %i : index
    %1 = arith.minsi %0, %same : index
    %start = arith.maxsi %1, %c0 : index
    %after = arith.addi %i, %c1 : index
    %negative_end = arith.cmpi slt, %after, %c0 : index
    %end_from_end = arith.addi %after, %same : index
    %2 = arith.select %negative_end, %end_from_end, %after : index
    %3 = arith.minsi %2, %same : index
    %end = arith.maxsi %3, %c0 : index
    %4 = arith.subi %end, %start : index
    %length = arith.maxsi %4, %c0 : index
    %inside = arith.cmpi slt, %i, %same : index
    func.call @place(%start, %length, %inside) : (index, index, i1) -> ()
  }
  return
}

// Not those of other loops, of other sizes, or of two places on.
// CHECK-LABEL: func.func @not_counted(
// CHECK-COUNT-2: arith.minsi
// CHECK:         arith.maxsi
// CHECK:         arith.minsi
func.func @not_counted(%n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %true = arith.constant true
  scf.for %i = %c0 to %n step %c1 {
    %0 = arith.minsi %i, %m : index
    %two = arith.addi %i, %c2 : index
    %1 = arith.minsi %two, %n : index
    func.call @place(%0, %1, %true) : (index, index, i1) -> ()
  }
  scf.for %i = %m to %n step %c1 {
    %0 = arith.maxsi %i, %c0 : index
    func.call @place(%0, %c1, %true) : (index, index, i1) -> ()
  }
  scf.for %i = %c0 to %n step %c2 {
    %after = arith.addi %i, %c1 : index
    %0 = arith.minsi %after, %n : index
    func.call @place(%0, %c1, %true) : (index, index, i1) -> ()
  }
  return
}

func.func private @place(index, index, i1)
