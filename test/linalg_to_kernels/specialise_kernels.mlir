// RUN: tcp-opt %s -specialise-kernels | FileCheck %s

// A kernel for each layout that it is called with; the first keeps the name.
// CHECK-LABEL: func.func @calls(
// CHECK:         call @kernel(%arg0) : (memref<4xf32>) -> ()
// CHECK:         memref.cast
// CHECK:         call @kernel_0(%arg1) : (memref<4xf32, strided<[2]>>) -> ()
// CHECK:         call @kernel(%arg2) : (memref<4xf32>) -> ()
func.func @calls(%a: memref<4xf32>, %b: memref<4xf32, strided<[2]>>, %c: memref<4xf32>) {
  %0 = memref.cast %a : memref<4xf32> to memref<4xf32, strided<[?], offset: ?>>
  call @kernel(%0) : (memref<4xf32, strided<[?], offset: ?>>) -> ()
  %1 = memref.cast %b : memref<4xf32, strided<[2]>> to memref<4xf32, strided<[?], offset: ?>>
  call @kernel(%1) : (memref<4xf32, strided<[?], offset: ?>>) -> ()
  %2 = memref.cast %c : memref<4xf32> to memref<4xf32, strided<[?], offset: ?>>
  call @kernel(%2) : (memref<4xf32, strided<[?], offset: ?>>) -> ()
  return
}

// CHECK-DAG:   func.func private @kernel(%arg0: memref<4xf32>)
// CHECK-DAG:   func.func private @kernel_0(%arg0: memref<4xf32, strided<[2]>>)
func.func private @kernel(%x: memref<4xf32, strided<[?], offset: ?>>) attributes {no_inline} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  memref.store %one, %x[%zero] : memref<4xf32, strided<[?], offset: ?>>
  return
}

// A kernel of any size is told what is the same in all calls, as that elements follow one another,
// and stays one for all sizes: rows of `b` are 16 apart, not 8.
// CHECK-LABEL: func.func @sizes(
// CHECK:         %[[A:.+]] = memref.cast %arg0 : memref<4x8xf32> to memref<?x8xf32, strided<[?, 1], offset: ?>>
// CHECK:         call @sized(%[[A]])
// CHECK:         %[[B:.+]] = memref.cast %arg1 : memref<2x8xf32, strided<[16, 1], offset: 8>> to memref<?x8xf32, strided<[?, 1], offset: ?>>
// CHECK:         call @sized(%[[B]])
// CHECK:         call @[[OTHER:sized_[0-9]+]](%arg2)
func.func @sizes(%a: memref<4x8xf32>, %b: memref<2x8xf32, strided<[16, 1], offset: 8>>,
                 %c: memref<2x8xf32, strided<[1, 2]>>) {
  %0 = memref.cast %a : memref<4x8xf32> to memref<?x?xf32, strided<[?, ?], offset: ?>>
  call @sized(%0) : (memref<?x?xf32, strided<[?, ?], offset: ?>>) -> ()
  %1 = memref.cast %b : memref<2x8xf32, strided<[16, 1], offset: 8>> to memref<?x?xf32, strided<[?, ?], offset: ?>>
  call @sized(%1) : (memref<?x?xf32, strided<[?, ?], offset: ?>>) -> ()
  %2 = memref.cast %c : memref<2x8xf32, strided<[1, 2]>> to memref<?x?xf32, strided<[?, ?], offset: ?>>
  call @sized(%2) : (memref<?x?xf32, strided<[?, ?], offset: ?>>) -> ()
  return
}

// CHECK-DAG:   func.func private @sized(%arg0: memref<?x8xf32, strided<[?, 1], offset: ?>>)
// CHECK-DAG:   func.func private @[[OTHER]](%arg0: memref<2x8xf32, strided<[1, 2]>>)
func.func private @sized(%x: memref<?x?xf32, strided<[?, ?], offset: ?>>) attributes {no_inline} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  memref.store %one, %x[%zero, %zero] : memref<?x?xf32, strided<[?, ?], offset: ?>>
  return
}

// What a cast claims of a size that is not known stays with the kernel.
// CHECK-LABEL: func.func @claim(
// CHECK:         call @claimed(%{{.+}}) : (memref<4xf32, strided<[?]>>) -> ()
// CHECK:         call @claimed(%{{.+}}) : (memref<4xf32, strided<[?]>>) -> ()
func.func @claim(%a: memref<?xf32, strided<[2]>>, %b: memref<4xf32, strided<[?]>>) {
  %0 = memref.cast %a : memref<?xf32, strided<[2]>> to memref<4xf32, strided<[?]>>
  call @claimed(%0) : (memref<4xf32, strided<[?]>>) -> ()
  call @claimed(%b) : (memref<4xf32, strided<[?]>>) -> ()
  return
}

// CHECK:       func.func private @claimed(%arg0: memref<4xf32, strided<[?]>>)
func.func private @claimed(%x: memref<4xf32, strided<[?]>>) attributes {no_inline} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  memref.store %one, %x[%zero] : memref<4xf32, strided<[?]>>
  return
}
