// RUN: tcp-opt %s -number-timers | FileCheck %s

// A loop that calls none but kernels that do little is timed as one.
// CHECK-LABEL: func.func @calls
// CHECK:         call @much(%{{.*}}) {plumbline.timer = 0 : i64}
// CHECK:         scf.for
// CHECK:           func.call @little(%{{.*}}) : (memref<?xf32>) -> ()
// CHECK:         } {plumbline.timer = 1 : i64}
// CHECK:         scf.for
// CHECK:           func.call @little(%{{.*}}) {plumbline.timer = 2 : i64}
// CHECK:           func.call @much(%{{.*}}) {plumbline.timer = 3 : i64}
// CHECK:         }
// CHECK-NEXT:    call @no_kernel() : () -> ()
func.func @calls(%n: index, %x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  call @much(%x) : (memref<?xf32>) -> ()
  scf.for %i = %c0 to %n step %c1 {
    func.call @little(%x) : (memref<?xf32>) -> ()
  }
  scf.for %i = %c0 to %n step %c1 {
    func.call @little(%x) : (memref<?xf32>) -> ()
    func.call @much(%x) : (memref<?xf32>) -> ()
  }
  call @no_kernel() : () -> ()
  return
}

// What a kernel calls is part of it.
// CHECK-LABEL: func.func private @much
// CHECK:         call @little(%{{.*}}) : (memref<?xf32>) -> ()
func.func private @much(%x: memref<?xf32>) attributes {no_inline} {
  call @little(%x) : (memref<?xf32>) -> ()
  return
}

func.func private @little(%x: memref<?xf32>) attributes {always_inline} {
  return
}

func.func private @no_kernel()
