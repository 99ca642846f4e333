// RUN: tcp-opt %s -split-input-file -place-on-device=tensors=device -canonicalize -cse | FileCheck %s

// Tensors of callers are where they are wanted; a result is allocated by the caller.
// CHECK-LABEL: func.func @call(
// CHECK-SAME:      %[[X:.*]]: memref<?xf32>) -> memref<?xf32> attributes {plumbline.device_tensors}
// CHECK-NOT:     gpu.memcpy
// CHECK:         %[[T:.*]] = gpu.alloc (%{{.*}}) : memref<?xf32>
// CHECK:         call @kernel(%[[X]], %[[T]])
// CHECK:         %[[Y:.*]] = memref.alloc(%{{.*}}) {alignment = 64 : i64} : memref<?xf32>
// CHECK:         call @kernel(%[[T]], %[[Y]])
// CHECK:         gpu.dealloc %[[T]]
// CHECK-NOT:     gpu.memcpy
// CHECK:         return %[[Y]]
func.func @call(%x: memref<?xf32>) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %t = memref.alloc(%n) : memref<?xf32>
  call @kernel(%x, %t) : (memref<?xf32>, memref<?xf32>) -> ()
  %y = memref.alloc(%n) : memref<?xf32>
  call @kernel(%t, %y) : (memref<?xf32>, memref<?xf32>) -> ()
  memref.dealloc %t : memref<?xf32>
  return %y : memref<?xf32>
}
func.func private @kernel(%x: memref<?xf32>, %y: memref<?xf32>) attributes {no_inline} {
  return
}

// -----

// An argument, and the same twice: each result is memory of its own.
// CHECK-LABEL: func.func @aliases(
// CHECK-SAME:      %[[X:[^:]*]]: memref<4xf32>)
// CHECK:         %[[Y:.*]] = memref.alloc() {alignment = 64 : i64} : memref<4xf32>
// CHECK:         %[[Z:.*]] = memref.alloc() {alignment = 64 : i64} : memref<4xf32>
// CHECK:         gpu.memcpy %[[Z]], %[[Y]] : memref<4xf32>, memref<4xf32> {plumbline.on_device}
// CHECK:         %[[C:.*]] = memref.alloc() {alignment = 64 : i64} : memref<4xf32>
// CHECK:         gpu.memcpy %[[C]], %[[X]] : memref<4xf32>, memref<4xf32> {plumbline.on_device}
// CHECK:         return %[[Y]], %[[Z]], %[[C]]
func.func @aliases(%x: memref<4xf32>) -> (memref<4xf32>, memref<4xf32>, memref<4xf32>) {
  %y = memref.alloc() : memref<4xf32>
  call @kernel(%x, %y) : (memref<4xf32>, memref<4xf32>) -> ()
  return %y, %y, %x : memref<4xf32>, memref<4xf32>, memref<4xf32>
}
func.func private @kernel(%x: memref<4xf32>, %y: memref<4xf32>) attributes {no_inline} {
  return
}

// -----

// A weight stays once it is there; a number is on the host, where it is looked at.
// CHECK-LABEL: func.func @weight(
// CHECK-SAME:      %[[W:[^:]*]]: memref<4xf32> {plumbline.weight = "w"}, %[[A:[^:]*]]: memref<i64>)
// CHECK:         %[[S:.*]] = gpu.alloc () {plumbline.resident} : memref<4xf32>
// CHECK:         gpu.memcpy %[[S]], %[[W]] : memref<4xf32>, memref<4xf32> {plumbline.to_device}
// CHECK:         memref.load %[[A]][] : memref<i64>
// CHECK-NOT:     gpu.dealloc
// CHECK:         return
func.func @weight(%w: memref<4xf32> {plumbline.weight = "w"}, %a: memref<i64>) -> memref<4xf32>
    attributes {plumbline.signature = {
      inputs = [{name = "w", type = "f32"}, {name = "a", scalar, type = "i64"}],
      outputs = [{name = "out0", type = "f32"}]}} {
  %y = memref.alloc() : memref<4xf32>
  %n = memref.load %a[] : memref<i64>
  call @kernel(%w, %n, %y) : (memref<4xf32>, i64, memref<4xf32>) -> ()
  return %y : memref<4xf32>
}
func.func private @kernel(%x: memref<4xf32>, %n: i64, %y: memref<4xf32>) attributes {no_inline} {
  return
}
