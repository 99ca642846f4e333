// RUN: tcp-opt %s -tcp-simplify-sizes -canonicalize | FileCheck %s

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

// What comes before a size of one more is all of that but one, and a place below 0 there is none.
// CHECK-LABEL: func.func @running_sums(
// CHECK:         %[[N:.*]] = tensor.dim %arg0, %c0
// CHECK-NEXT:    %[[LONGER:.*]] = tcp.concat
// CHECK-NEXT:    tcp.slice %[[LONGER]] starts(%c0) sizes(%[[N]]) strides(%c1)
// CHECK-NEXT:    return
func.func @running_sums(%x: tensor<?xf32>, %one: tensor<1xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %longer = tcp.concat %one, %x {dim = 0 : index} : tensor<1xf32>, tensor<?xf32> -> tensor<?xf32>
  %more = tensor.dim %longer, %c0 : tensor<?xf32>
  %negative = arith.cmpi slt, %n, %c0 : index
  %from_end = arith.addi %n, %more : index
  %0 = arith.select %negative, %from_end, %n : index
  %1 = arith.minsi %0, %more : index
  %2 = arith.maxsi %1, %c0 : index
  %3 = tcp.slice %longer starts(%c0) sizes(%2) strides(%c1) : tensor<?xf32> -> tensor<?xf32>
  return %3 : tensor<?xf32>
}

// A slice of everything, whose size is that of another tensor of as many elements.
// CHECK-LABEL: func.func @all_of(
// CHECK:         %[[FLAT:.*]] = tensor.collapse_shape %arg0
// CHECK-NEXT:    return %[[FLAT]]
func.func @all_of(%x: tensor<?x3x?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c0 : tensor<?x3x?xf32>
  %m = tensor.dim %x, %c2 : tensor<?x3x?xf32>
  %0 = arith.muli %m, %n : index
  %1 = arith.muli %0, %c3 : index
  %flat = tensor.collapse_shape %x [[0, 1, 2]] : tensor<?x3x?xf32> into tensor<?xf32>
  %2 = tcp.slice %flat starts(%c0) sizes(%1) strides(%c1) : tensor<?xf32> -> tensor<?xf32>
  return %2 : tensor<?xf32>
}

// Halves and the lesser of two are no more than what they are of.
// CHECK-LABEL: func.func @parts(
// CHECK:         %[[HALF:.*]] = arith.floordivsi
// CHECK-NEXT:    %[[LESSER:.*]] = arith.minsi
// CHECK-NEXT:    call @place(%[[HALF]], %[[LESSER]], %true)
func.func @parts(%x: tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?xf32>
  %half = arith.floordivsi %n, %c2 : index
  %0 = arith.minsi %half, %n : index
  %lesser = arith.minsi %n, %m : index
  %1 = arith.minsi %lesser, %m : index
  %rest = arith.subi %n, %lesser : index
  %inside = arith.cmpi sge, %rest, %c0 : index
  func.call @place(%0, %1, %inside) : (index, index, i1) -> ()
  return
}

// Nothing is known of numbers, of which size is the greater one, or of what is taken from a size.
// CHECK-LABEL: func.func @not_known(
// CHECK:         arith.cmpi slt
// CHECK:         arith.minsi
// CHECK:         arith.subi
// CHECK-NEXT:    arith.maxsi
// CHECK:         tcp.slice
func.func @not_known(%x: tensor<?x?xf32>, %number: index) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?xf32>
  %0 = arith.cmpi slt, %number, %c0 : index
  %1 = arith.minsi %n, %m : index
  %2 = arith.subi %n, %c1 : index
  %3 = arith.maxsi %2, %c0 : index
  func.call @place(%1, %3, %0) : (index, index, i1) -> ()
  %4 = tcp.slice %x starts(%c0, %c0) sizes(%1, %m) strides(%c1, %c1) : tensor<?x?xf32> -> tensor<?x?xf32>
  return %4 : tensor<?x?xf32>
}

// A group takes no value from outside.
// CHECK-LABEL: func.func @isolated(
// CHECK-COUNT-2: tensor.dim
func.func @isolated(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %y = tcp.iota(%n) {dim = 0 : index} : tensor<?xf32>
  %0 = tcp.isolated_group %x, %y {
  ^bb0(%a: tensor<?xf32>, %b: tensor<?xf32>):
    %zero = arith.constant 0 : index
    %size = tensor.dim %a, %zero : tensor<?xf32>
    %z = tcp.iota(%size) {dim = 0 : index} : tensor<?xf32>
    %sum = tcp.add %a, %z : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
    tcp.yield %sum : tensor<?xf32>
  } : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
