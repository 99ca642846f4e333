// RUN: tcp-opt %s -inline-small-kernels | FileCheck %s

func.func @rounds(%n: index, %x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    func.call @few(%x) : (memref<?xf32>) -> ()
    func.call @many(%x) : (memref<?xf32>) -> ()
    func.call @unknown(%x, %n) : (memref<?xf32>, index) -> ()
  }
  func.call @once(%x) : (memref<?xf32>) -> ()
  return
}

// CHECK-LABEL: func.func private @few(
// CHECK-SAME:    attributes {always_inline}
func.func private @few(%x: memref<?xf32>) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %c2 step %c1 {
    %0 = memref.load %x[%i] : memref<?xf32>
    %1 = arith.addf %0, %0 : f32
    memref.store %1, %x[%i] : memref<?xf32>
  }
  return
}

// CHECK-LABEL: func.func private @many(
// CHECK-SAME:    attributes {no_inline}
func.func private @many(%x: memref<?xf32>) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      %0 = memref.load %x[%i] : memref<?xf32>
      memref.store %0, %x[%j] : memref<?xf32>
    }
  }
  return
}

// CHECK-LABEL: func.func private @unknown(
// CHECK-SAME:    attributes {no_inline}
func.func private @unknown(%x: memref<?xf32>, %n: index) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %0 = memref.load %x[%i] : memref<?xf32>
    memref.store %0, %x[%c0] : memref<?xf32>
  }
  return
}

// What is called once is not a loop's.
// CHECK-LABEL: func.func private @once(
// CHECK-SAME:    attributes {no_inline}
func.func private @once(%x: memref<?xf32>) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %0 = memref.load %x[%c0] : memref<?xf32>
  memref.store %0, %x[%c0] : memref<?xf32>
  return
}
