// RUN: tcp-opt %s -time-kernels | FileCheck %s

// CHECK-LABEL: func.func @calls
// CHECK-NEXT:    %[[WHOLE:.*]] = llvm.call @plumbline_nanoseconds() : () -> i64
// CHECK-NEXT:    %[[NOTHING:.*]] = llvm.mlir.constant(2 : i64)
// CHECK-NEXT:    llvm.call @plumbline_add_time(%[[NOTHING]], %[[WHOLE]])
// CHECK:         %[[BEGIN:.*]] = llvm.call @plumbline_nanoseconds()
// CHECK-NEXT:    call @kernel
// CHECK-NEXT:    %[[NUMBER:.*]] = llvm.mlir.constant(0 : i64)
// CHECK-NEXT:    llvm.call @plumbline_add_time(%[[NUMBER]], %[[BEGIN]])
// CHECK:         %[[BEGIN:.*]] = llvm.call @plumbline_nanoseconds()
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      func.call @kernel(%{{.*}}) : (memref<?xf32>) -> ()
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[NUMBER:.*]] = llvm.mlir.constant(1 : i64)
// CHECK-NEXT:    llvm.call @plumbline_add_time(%[[NUMBER]], %[[BEGIN]])
// CHECK:         %[[LAST:.*]] = llvm.mlir.constant(3 : i64)
// CHECK-NEXT:    llvm.call @plumbline_add_time(%[[LAST]], %[[WHOLE]])
// CHECK-NEXT:    return
func.func @calls(%n: index, %x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  call @kernel(%x) {plumbline.timer = 0 : i64} : (memref<?xf32>) -> ()
  scf.for %i = %c0 to %n step %c1 {
    func.call @kernel(%x) : (memref<?xf32>) -> ()
  } {plumbline.timer = 1 : i64}
  return
}

func.func private @kernel(%x: memref<?xf32>) attributes {no_inline} {
  return
}

// Two timers more: of nothing, and of the function as a whole.
// CHECK:       llvm.mlir.global external @plumbline_times() {{.*}} : !llvm.array<8 x i64>
// CHECK:       llvm.func @clock_gettime(i32, !llvm.ptr) -> i32
// CHECK:       llvm.func internal @plumbline_nanoseconds() -> i64 attributes {no_inline}
// CHECK:       llvm.func internal @plumbline_add_time(%{{.*}}: i64, %{{.*}}: i64) attributes {no_inline}
