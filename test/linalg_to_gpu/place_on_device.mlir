// RUN: tcp-opt %s -split-input-file -place-on-device -canonicalize -cse -verify-diagnostics | FileCheck %s

// Arguments are copied where they are read, and what is returned is copied to memory of the host.
// CHECK-LABEL: func.func @call(
// CHECK-SAME:      %[[X:.*]]: memref<?xf32>, %{{.*}}: memref<4xf32>)
// CHECK:         %[[N:.*]] = memref.dim %[[X]]
// CHECK:         %[[DX:.*]] = gpu.alloc (%[[N]]) : memref<?xf32>
// CHECK:         gpu.memcpy %[[DX]], %[[X]] : memref<?xf32>, memref<?xf32> {plumbline.to_device}
// CHECK:         %[[DY:.*]] = gpu.alloc (%[[N]]) : memref<?xf32>
// CHECK:         call @kernel(%[[DX]], %[[DY]])
// CHECK:         %[[Y:.*]] = memref.alloc(%[[N]]) {alignment = 64 : i64} : memref<?xf32>
// CHECK:         gpu.memcpy %[[Y]], %[[DY]] : memref<?xf32>, memref<?xf32>
// CHECK-NOT:     plumbline.to_device
// CHECK-DAG:     gpu.dealloc %[[DX]]
// CHECK-DAG:     gpu.dealloc %[[DY]]
// CHECK:         return %[[Y]]
func.func @call(%x: memref<?xf32>, %unused: memref<4xf32>) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %y = memref.alloc(%n) : memref<?xf32>
  call @kernel(%x, %y) : (memref<?xf32>, memref<?xf32>) -> ()
  return %y : memref<?xf32>
}
func.func private @kernel(%x: memref<?xf32>, %y: memref<?xf32>) attributes {no_inline} {
  return
}

// -----

// The host looks at one element, and has a thread store one.
// CHECK-LABEL: func.func @element(
// CHECK:         %[[D:.*]] = gpu.alloc () : memref<4xi64>
// CHECK:         %[[H:.*]] = memref.alloca() : memref<i64>
// CHECK:         %[[E:.*]] = memref.reinterpret_cast %{{.*}} to offset: [%{{.*}}], sizes: [], strides: []
// CHECK:         gpu.memcpy %[[H]], %[[E]] : memref<i64>, memref<i64, strided<[], offset: ?>>
// CHECK:         %[[V:.*]] = memref.load %[[H]][] : memref<i64>
// CHECK:         %[[R:.*]] = gpu.alloc () : memref<i64>
// CHECK:         gpu.launch
// CHECK:           memref.store %[[V]], %[[R]][]
func.func @element(%x: memref<4xi64>, %at: index) -> memref<i64> {
  %v = memref.load %x[%at] : memref<4xi64>
  %r = memref.alloc() : memref<i64>
  memref.store %v, %r[] : memref<i64>
  return %r : memref<i64>
}

// -----

// What is written in place is copied back; a number is given as it is.
// CHECK-LABEL: func.func @in_out(
// CHECK-SAME:      %[[X:.*]]: memref<4xi64> {plumbline.inout}, %[[N:.*]]: i64)
// CHECK:         %[[DX:.*]] = gpu.alloc () : memref<4xi64>
// CHECK:         gpu.memcpy %[[DX]], %[[X]] : memref<4xi64>, memref<4xi64> {plumbline.to_device}
// CHECK:         gpu.launch
// CHECK:         gpu.memcpy %[[X]], %[[DX]] : memref<4xi64>, memref<4xi64>
// CHECK:         return %[[N]] : i64
func.func @in_out(%x: memref<4xi64> {plumbline.inout}, %n: i64) -> i64 {
  %c1 = arith.constant 1 : index
  memref.store %n, %x[%c1] : memref<4xi64>
  return %n : i64
}

// -----

func.func @copied(%x: memref<4xi64>) -> memref<4xi64> {
  %r = memref.alloc() : memref<4xi64>
  // expected-error@+1 {{memref.copy: no kernel of a GPU does this yet}}
  memref.copy %x, %r : memref<4xi64> to memref<4xi64>
  return %r : memref<4xi64>
}

// -----

// Who releases which of two buffers would be told by their addresses.
func.func @one_or_another(%x: memref<4xi64>, %y: memref<4xi64>) -> i1 {
  // expected-error@+1 {{a loop or a branch hands on one buffer or another, of sizes that may differ}}
  %0 = memref.extract_aligned_pointer_as_index %x : memref<4xi64> -> index
  %1 = memref.extract_aligned_pointer_as_index %y : memref<4xi64> -> index
  %2 = arith.cmpi ne, %0, %1 : index
  return %2 : i1
}
