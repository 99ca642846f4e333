// RUN: tcp-opt %s -outline-parallel-loops "-build-c-abi=abi=pointers memory=pool" -split-input-file -verify-diagnostics | FileCheck %s

// Temporaries lie in the workspace: what is static first, then what is not, and what a kernel takes
// behind that which lives when it is called.

// CHECK-LABEL: func.func @f(
// CHECK-SAME:      %{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: !llvm.ptr, %[[N:[^:]*]]: i64, %[[WORKSPACE:[^:]*]]: !llvm.ptr) -> i32
// CHECK:         call @plumbline_require({{.*}}) {plumbline.message = "workspace is null"}
// CHECK:         call @plumbline_require({{.*}}) {plumbline.message = "workspace is not aligned to 64 bytes"}

// CHECK-LABEL: func.func @f_workspace_size(
// CHECK-SAME:      %{{[^:]*}}: i64) -> i64 {

// CHECK-LABEL: func.func private @f_body(
// CHECK-SAME:      %[[X:[^:]*]]: memref<?xf32>, %[[OUT:[^:]*]]: memref<?xi8>, %[[W:[^:]*]]: memref<?xi8>)
// CHECK-NOT:     memref.alloc
// CHECK:         %[[START:.*]] = arith.constant 128 : index
// CHECK:         memref.view %[[W]][%c0{{.*}}][] : memref<?xi8> to memref<20xf32>
// CHECK:         %[[BLOCKS:.*]] = arith.ceildivui
// CHECK:         %[[BYTES:.*]] = arith.muli %[[BLOCKS]]
// CHECK:         %[[END:.*]] = arith.addi %[[START]], %[[BYTES]]
// CHECK:         %[[TEMPORARY:.*]] = memref.view %[[W]][%[[START]]][%{{.*}}] : memref<?xi8> to memref<?xf32>
// CHECK:         %[[OWN:.*]] = memref.view %[[W]][%[[END]]]
// CHECK:         call @kernel(%[[X]], %[[TEMPORARY]], %[[OWN]])
// CHECK-NOT:     memref.dealloc

// CHECK-LABEL: func.func private @kernel(
// CHECK-SAME:      %{{[^:]*}}: memref<?xf32> {llvm.noalias}, %{{[^:]*}}: memref<?xf32> {llvm.noalias}, %[[W:[^:]*]]: memref<?xi8> {llvm.noalias})
// CHECK:         memref.view %[[W]]
func.func @f(%x: memref<?xf32> {plumbline.shape = affine_map<()[s0] -> (s0)>}) -> memref<?xf32> attributes {plumbline.symbols = [{name = "n", min_val = 0 : i64, max_val = 9223372036854775807 : i64}]} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %result = memref.alloc(%n) : memref<?xf32>
  %fixed = memref.alloc() : memref<20xf32>
  %temporary = memref.alloc(%n) : memref<?xf32>
  call @kernel(%x, %temporary) : (memref<?xf32>, memref<?xf32>) -> ()
  memref.copy %temporary, %result : memref<?xf32> to memref<?xf32>
  memref.dealloc %fixed : memref<20xf32>
  memref.dealloc %temporary : memref<?xf32>
  return %result : memref<?xf32>
}
func.func private @kernel(%x: memref<?xf32> {llvm.noalias}, %y: memref<?xf32> {llvm.noalias}) attributes {no_inline} {
  %panel = memref.alloc() : memref<16xf32>
  memref.dealloc %panel : memref<16xf32>
  return
}

// -----

// What goes round in a loop cannot have one place.
module {
  func.func @rounds(%x: memref<4xf32>) -> memref<f32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %result = memref.alloc() : memref<f32>
    %first = memref.alloc() : memref<f32>
    %last = scf.for %i = %c0 to %c4 step %c1 iter_args(%before = %first) -> (memref<f32>) {
      // expected-error @below {{memory "pool": a temporary lives on beyond the loop or the branch that makes it; use memory "malloc"}}
      %next = memref.alloc() : memref<f32>
      memref.copy %before, %next : memref<f32> to memref<f32>
      memref.dealloc %before : memref<f32>
      scf.yield %next : memref<f32>
    }
    memref.copy %last, %result : memref<f32> to memref<f32>
    memref.dealloc %last : memref<f32>
    return %result : memref<f32>
  }
}

// -----

// A size that a branch computes, of what is known in front of it, is computed there.

// CHECK-LABEL: func.func private @branch_body(
// CHECK-SAME:      %[[X:[^:]*]]: memref<?xf32>
// CHECK:         %[[SIZE:.*]] = memref.dim %[[X]]
// CHECK:         %[[MORE:.*]] = arith.addi %[[SIZE]]
// CHECK:         memref.view %{{.*}}[%{{.*}}][%[[MORE]]] : memref<?xi8> to memref<?xf32>
// CHECK:         scf.if
func.func @branch(%x: memref<?xf32> {plumbline.shape = affine_map<()[s0] -> (s0)>}) -> memref<f32> attributes {plumbline.symbols = [{name = "n", min_val = 0 : i64, max_val = 9223372036854775807 : i64}]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %result = memref.alloc() : memref<f32>
  %n = memref.dim %x, %c0 : memref<?xf32>
  %is_large = arith.cmpi sgt, %n, %c9 : index
  scf.if %is_large {
    %line = memref.expand_shape %x [[0, 1]] output_shape [%n, 1] : memref<?xf32> into memref<?x1xf32>
    %size = memref.dim %line, %c0 : memref<?x1xf32>
    %more = arith.addi %size, %c1 : index
    %temporary = memref.alloc(%more) : memref<?xf32>
    func.call @sum(%x, %temporary, %result) : (memref<?xf32>, memref<?xf32>, memref<f32>) -> ()
    memref.dealloc %temporary : memref<?xf32>
  }
  return %result : memref<f32>
}
func.func private @sum(memref<?xf32>, memref<?xf32>, memref<f32>)

// -----

// But not one that a loop counts.
func.func @counted(%x: memref<?xf32> {plumbline.shape = affine_map<()[s0] -> (s0)>}) -> memref<f32> attributes {plumbline.symbols = [{name = "n", min_val = 0 : i64, max_val = 9223372036854775807 : i64}]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %result = memref.alloc() : memref<f32>
  %n = memref.dim %x, %c0 : memref<?xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    %size = arith.minsi %i, %n : index
    // expected-error @below {{memory "pool": a temporary within a loop or a branch has a size that is computed there; use memory "malloc"}}
    %temporary = memref.alloc(%size) : memref<?xf32>
    func.call @sum(%x, %temporary, %result) : (memref<?xf32>, memref<?xf32>, memref<f32>) -> ()
    memref.dealloc %temporary : memref<?xf32>
  }
  return %result : memref<f32>
}
func.func private @sum(memref<?xf32>, memref<?xf32>, memref<f32>)

// -----

// Threads have memory of their own for chunks: each as much as the others, for two threads, and for
// no more.

// CHECK-LABEL: func.func @g_workspace_size(
// CHECK:         arith.constant 256 : index

// CHECK-LABEL: func.func private @chunked(
// CHECK:         %[[ASKED:.*]] = call @plumbline_threads(%[[TWO:[^)]*]])
// CHECK:         %[[THREADS:.*]] = arith.minui %[[ASKED]], %[[TWO]]
// CHECK:         call @chunked_chunks(%[[THREADS]], {{.*}}, %{{.*}}) : (index, memref<4xf32>, memref<?xi8>) -> ()

// CHECK-LABEL: func.func private @chunked_chunk(
// CHECK-SAME:      %[[WORKER:[^:]*]]: index, %{{[^:]*}}: index, %{{[^:]*}}: index, %[[SHARES:[^:]*]]: index, {{.*}}, %[[W:[^:]*]]: memref<?xi8> {llvm.noalias})
// CHECK:         %[[ALL:.*]] = arith.muli %[[SHARES]], %c0{{.*}}
// CHECK:         %[[BEFORE:.*]] = arith.muli %[[WORKER]], %c128{{.*}}
// CHECK:         %[[PLACE:.*]] = arith.addi %[[ALL]], %[[BEFORE]]
// CHECK:         memref.view %[[W]][%[[PLACE]]][] : memref<?xi8> to memref<20xf32>
func.func private @plumbline_threads(index) -> index
func.func @g(%x: memref<4xf32>) -> memref<4xf32> {
  %result = memref.alloc() : memref<4xf32>
  call @chunked(%result) : (memref<4xf32>) -> ()
  return %result : memref<4xf32>
}
func.func private @chunked(%x: memref<4xf32> {llvm.noalias}) attributes {no_inline} {
  %c2 = arith.constant 2 : index
  %threads = call @plumbline_threads(%c2) : (index) -> index
  scf.forall (%chunk) in (%threads) {
    %panel = memref.alloc() : memref<20xf32>
    %element = memref.load %panel[%chunk] : memref<20xf32>
    memref.store %element, %x[%chunk] : memref<4xf32>
    memref.dealloc %panel : memref<20xf32>
  }
  return
}
