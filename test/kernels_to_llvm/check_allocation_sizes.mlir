// RUN: tcp-opt %s -check-allocation-sizes -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME:      %[[M:.*]]: index, %[[N:.*]]: index)
// CHECK:         %[[SEVEN:.*]] = arith.constant 7 : index
// CHECK:         %[[LOW:.*]], %[[HIGH:.*]] = arith.mului_extended %[[SEVEN]], %[[M]]
// CHECK:         %[[FIRST:.*]] = arith.cmpi eq, %[[HIGH]],
// CHECK:         %[[COUNT:.*]], %[[EXCESS:.*]] = arith.mului_extended %[[LOW]], %[[N]]
// CHECK:         %[[SECOND:.*]] = arith.cmpi eq, %[[EXCESS]],
// CHECK:         %[[BOTH:.*]] = arith.andi %[[FIRST]], %[[SECOND]]
// CHECK:         %[[SMALL:.*]] = arith.cmpi ule, %[[COUNT]],
// CHECK:         %[[FITS:.*]] = arith.andi %[[BOTH]], %[[SMALL]]
// CHECK:         call @plumbline_require(%[[FITS]], {{.*}}"{{.*}}check_allocation_sizes.mlir:[[# @LINE + 3]]:8: error: there is no memory for a tensor of the sizes {}, 7, {}"
// CHECK-NEXT:    memref.alloc
func.func @dynamic(%m: index, %n: index) -> memref<?x7x?xi8> {
  %0 = memref.alloc(%m, %n) : memref<?x7x?xi8>
  return %0 : memref<?x7x?xi8>
}

// -----

// CHECK-LABEL: func.func @more_sizes_than_a_message_has_numbers(
// CHECK:         there is no memory for a tensor of the sizes {}, {}, {}, ?"
func.func @more_sizes_than_a_message_has_numbers(%n: index) -> memref<?x?x?x?xf32> {
  %0 = memref.alloc(%n, %n, %n, %n) : memref<?x?x?x?xf32>
  return %0 : memref<?x?x?x?xf32>
}

// -----

// CHECK-LABEL: func.func @static(
// CHECK-NOT:     plumbline_require
func.func @static() -> memref<7xf32> {
  %0 = memref.alloc() : memref<7xf32>
  return %0 : memref<7xf32>
}
