// RUN: tcp-opt %s -compute-counted-places -canonicalize -cse | FileCheck %s

// Where a panel of 16 rows begins, the last one first, and ends.
// CHECK-LABEL: func.func @panels(
// CHECK:         scf.for %[[I:.*]] = %c0 to %c4 step %c1
// CHECK-NEXT:      %[[TURNED:.*]] = arith.subi %c3, %[[I]]
// CHECK-NEXT:      %[[START:.*]] = arith.muli %[[TURNED]], %c16
// CHECK-NEXT:      %[[END:.*]] = arith.addi %[[START]], %c16
// CHECK-NEXT:      func.call @place(%[[START]])
// CHECK-NEXT:      func.call @place(%[[END]])
func.func @panels() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %0 = tcp.iota() {dim = 0 : index} : tensor<4xi64>
  %1 = tcp.const {value = dense<16> : tensor<4xi64>} : tensor<4xi64>
  %2 = tcp.mul %0, %1 : tensor<4xi64>, tensor<4xi64> -> tensor<4xi64>
  %3 = tcp.reverse %2 {axes = [0]} : tensor<4xi64> -> tensor<4xi64>
  %4 = tcp.const {value = dense<16> : tensor<1xi64>} : tensor<1xi64>
  scf.for %i = %c0 to %c4 step %c1 {
    %5 = tcp.slice %3 starts(%i) sizes(%c1) strides(%c1) : tensor<4xi64> -> tensor<1xi64>
    %6 = tcp.add %5, %4 : tensor<1xi64>, tensor<1xi64> -> tensor<1xi64>
    %7 = tcp.concat %5, %6 {dim = 0 : index} : tensor<1xi64>, tensor<1xi64> -> tensor<2xi64>
    %collapsed = tensor.collapse_shape %5 [] : tensor<1xi64> into tensor<i64>
    %start = tensor.extract %collapsed[] : tensor<i64>
    %end = tensor.extract %7[%c1] : tensor<2xi64>
    %first = arith.index_cast %start : i64 to index
    %last = arith.index_cast %end : i64 to index
    func.call @place(%first) : (index) -> ()
    func.call @place(%last) : (index) -> ()
  }
  return
}

// What an argument holds is read, and what is not in a loop.
// CHECK-LABEL: func.func @not_counted(
// CHECK-COUNT-2: tensor.extract
func.func @not_counted(%x: tensor<4xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %0 = tcp.iota() {dim = 0 : index} : tensor<4xi64>
  %only = tensor.extract %0[%c1] : tensor<4xi64>
  %first = arith.index_cast %only : i64 to index
  func.call @place(%first) : (index) -> ()
  scf.for %i = %c0 to %c4 step %c1 {
    %given = tensor.extract %x[%i] : tensor<4xi64>
    %last = arith.index_cast %given : i64 to index
    func.call @place(%last) : (index) -> ()
  }
  return
}

func.func private @place(index)
