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
