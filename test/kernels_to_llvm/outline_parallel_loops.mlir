// RUN: tcp-opt %s -outline-parallel-loops -canonicalize | FileCheck %s

// A chunk is handed the buffers that are apart in memory, and makes its views of them itself.

// CHECK-LABEL: func.func private @kernel(
// CHECK-SAME:      %[[X:.*]]: memref<?xf32> {llvm.noalias}, %[[Y:.*]]: memref<?xf32>, %[[SHARES:.*]]: index)
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK:         %[[SHARED:.*]] = memref.alloc
// CHECK:         %[[SCALE:.*]] = memref.load %[[X]][%[[C0]]]
// CHECK-NEXT:    call @kernel_chunks(%[[SHARES]], %[[X]], %[[SHARED]], %[[SCALE]], %[[Y]])
// CHECK-NEXT:    memref.dealloc %[[SHARED]]
// CHECK-NEXT:    return

// CHECK:       func.func private @kernel_chunk(
// CHECK-SAME:      %{{.*}}: index, %[[SHARE:.*]]: index, %[[PIECE:.*]]: index, %[[COUNT:.*]]: index, %[[X:.*]]: memref<?xf32> {llvm.noalias}, %[[SHARED:.*]]: memref<4xf32> {llvm.noalias}, %[[SCALE:.*]]: f32, %[[Y:.*]]: memref<?xf32>)
// CHECK-SAME:      attributes {no_inline}
// CHECK:         %[[SIZE:.*]] = memref.dim %[[X]]
// CHECK:         %[[FIRST:.*]] = arith.divui %[[SIZE]], %[[COUNT]]
// CHECK:         memref.load %[[SHARED]][%[[PIECE]]]
// CHECK:         memref.store %{{.*}}, %[[Y]][%[[SHARE]]]

// CHECK:       func.func private @kernel_chunks(
// CHECK-SAME:      %[[COUNT:.*]]: index, %[[X:.*]]: memref<?xf32>, %[[SHARED:.*]]: memref<4xf32>, %[[SCALE:.*]]: f32, %[[Y:.*]]: memref<?xf32>)
// CHECK-SAME:      attributes {plumbline.fork = "kernel_chunk", plumbline.pieces = 4 : index}
// CHECK-DAG:     %[[NONE:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[PIECES:.*]] = arith.constant 4 : index
// CHECK:         scf.for %[[SHARE:.*]] = %{{.*}} to %[[COUNT]] step
// CHECK-NEXT:      scf.for %[[PIECE:.*]] = %{{.*}} to %[[PIECES]] step
// CHECK-NEXT:        func.call @kernel_chunk(%[[NONE]], %[[SHARE]], %[[PIECE]], %[[COUNT]], %[[X]], %[[SHARED]], %[[SCALE]], %[[Y]])

// A loop that counts shares alone has one piece of each.
// CHECK-LABEL: func.func private @whole_shares(
// CHECK:         call @whole_shares_chunks(
// CHECK:       func.func private @whole_shares_chunk(
// CHECK-SAME:      %{{.*}}: index, %[[SHARE:.*]]: index, %{{.*}}: index, %{{.*}}: index, %[[Y:.*]]: memref<?xf32>)
// CHECK:         memref.store %{{.*}}, %[[Y]][%[[SHARE]]]
// CHECK:       func.func private @whole_shares_chunks(
// CHECK-SAME:      plumbline.pieces = 1 : index

// Other loops stay as they are, to be done in order.
// CHECK-LABEL: func.func private @from_elsewhere(
// CHECK:         scf.forall
// CHECK-LABEL: func.func private @no_kernel(
// CHECK:         scf.forall
func.func private @kernel(%x: memref<?xf32> {llvm.noalias}, %y: memref<?xf32>, %shares: index) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %size = memref.dim %x, %c0 : memref<?xf32>
  %shared = memref.alloc() : memref<4xf32>
  %scale = memref.load %x[%c0] : memref<?xf32>
  scf.forall (%share, %piece) in (%shares, 4) {
    %first = arith.divui %size, %shares : index
    %0 = memref.load %x[%first] : memref<?xf32>
    %1 = memref.load %shared[%piece] : memref<4xf32>
    %2 = arith.mulf %0, %scale : f32
    %3 = arith.addf %1, %2 : f32
    memref.store %3, %y[%share] : memref<?xf32>
  }
  memref.dealloc %shared : memref<4xf32>
  return
}
func.func private @whole_shares(%y: memref<?xf32>, %shares: index) attributes {no_inline} {
  %one = arith.constant 1.0 : f32
  scf.forall (%share) in (%shares) {
    memref.store %one, %y[%share] : memref<?xf32>
  }
  return
}
func.func private @from_elsewhere(%y: memref<?xf32>, %first: index) attributes {no_inline} {
  %one = arith.constant 1.0 : f32
  scf.forall (%i) = (%first) to (4) step (1) {
    memref.store %one, %y[%i] : memref<?xf32>
  }
  return
}
func.func private @no_kernel(%y: memref<?xf32>, %count: index) {
  %one = arith.constant 1.0 : f32
  scf.forall (%i) in (%count) {
    memref.store %one, %y[%i] : memref<?xf32>
  }
  return
}
