// RUN: tcp-opt %s -return-failures -fork-threads -split-input-file | FileCheck %s

// Each thread begins with its own share, of which it counts the pieces that are begun.

// CHECK-LABEL: llvm.func internal @kernel_chunk_worker(
// CHECK-SAME:      %[[CONTEXT:.*]]: !llvm.ptr)
// CHECK:         %[[PLACE:.*]] = llvm.getelementptr %[[CONTEXT]][0, 0] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(i64, f32, ptr)>
// CHECK-NEXT:    %[[SHARES:.*]] = llvm.load %[[PLACE]]
// CHECK:         %[[PLACE:.*]] = llvm.getelementptr %[[CONTEXT]][0, 1]
// CHECK-NEXT:    %[[X:.*]] = llvm.load %[[PLACE]] : !llvm.ptr -> f32
// CHECK:         %[[PLACE:.*]] = llvm.getelementptr %[[CONTEXT]][0, 2]
// CHECK-NEXT:    %[[BEGUN:.*]] = llvm.load %[[PLACE]] : !llvm.ptr -> !llvm.ptr
// CHECK-NEXT:    %[[NUMBER:.*]] = llvm.call @omp_get_thread_num() : () -> i32
// CHECK-NEXT:    %[[SELF:.*]] = llvm.sext %[[NUMBER]] : i32 to i64
// CHECK:         llvm.br ^[[HEAD:.*]](%{{.*}} : i64)
// CHECK:       ^[[HEAD]](%[[OTHER:.*]]: i64):
// CHECK-NEXT:    %[[MORE:.*]] = llvm.icmp "slt" %[[OTHER]], %[[SHARES]]
// CHECK-NEXT:    llvm.cond_br %[[MORE]], ^[[BODY:.*]], ^[[DONE:.*]]
// CHECK:       ^[[BODY]]:
// CHECK-NEXT:    %[[SUM:.*]] = llvm.add %[[SELF]], %[[OTHER]]
// CHECK-NEXT:    %[[SHARE:.*]] = llvm.urem %[[SUM]], %[[SHARES]]
// CHECK-NEXT:    %[[WORDS:.*]] = llvm.mlir.constant(8 : i64)
// CHECK-NEXT:    %[[AT:.*]] = llvm.mul %[[SHARE]], %[[WORDS]]
// CHECK-NEXT:    %[[COUNTER:.*]] = llvm.getelementptr %[[BEGUN]][%[[AT]]] : (!llvm.ptr, i64) -> !llvm.ptr, i64
// CHECK-NEXT:    llvm.br ^[[NEXT:.*]]
// CHECK:       ^[[NEXT]]:
// CHECK-NEXT:    %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
// CHECK-NEXT:    %[[PIECE:.*]] = llvm.atomicrmw add %[[COUNTER]], %[[ONE]] monotonic
// CHECK-NEXT:    %[[PIECES:.*]] = llvm.mlir.constant(4 : i64)
// CHECK-NEXT:    %[[LEFT:.*]] = llvm.icmp "slt" %[[PIECE]], %[[PIECES]]
// CHECK-NEXT:    llvm.cond_br %[[LEFT]], ^[[CHUNK:.*]], ^[[END:.*]]
// CHECK:       ^[[CHUNK]]:
// CHECK-NEXT:    llvm.call @kernel_chunk(%[[SELF]], %[[SHARE]], %[[PIECE]], %[[SHARES]], %[[X]])
// CHECK-NEXT:    llvm.br ^[[NEXT]]
// CHECK:       ^[[END]]:
// CHECK-NEXT:    llvm.add %[[OTHER]],
// CHECK-NEXT:    llvm.br ^[[HEAD]]
// CHECK:       ^[[DONE]]:
// CHECK-NEXT:    llvm.return

// CHECK-LABEL: llvm.func internal @kernel_chunks(
// CHECK-SAME:      %[[SHARES:.*]]: i64, %[[X:.*]]: f32)
// CHECK:         %[[NONE:.*]] = llvm.mlir.constant(0 : i64)
// CHECK-NEXT:    %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
// CHECK-NEXT:    %[[PIECES:.*]] = llvm.mlir.constant(4 : i64)
// CHECK-NEXT:    %[[CHUNKS:.*]] = llvm.mul %[[SHARES]], %[[PIECES]]
// CHECK-NEXT:    %[[IS_FEW:.*]] = llvm.icmp "sle" %[[SHARES]], %[[ONE]]
// CHECK-NEXT:    llvm.cond_br %[[IS_FEW]], ^[[FEW:.*]], ^[[SEVERAL:.*]]
// CHECK:       ^[[FEW]]:
// CHECK-NEXT:    llvm.br ^[[HEAD:.*]](%[[NONE]] : i64)
// CHECK:       ^[[HEAD]](%[[PIECE:.*]]: i64):
// CHECK-NEXT:    llvm.icmp "slt" %[[PIECE]], %[[CHUNKS]]
// CHECK:         llvm.call @kernel_chunk(%[[NONE]], %[[NONE]], %[[PIECE]], %[[SHARES]], %[[X]])
// CHECK:         llvm.return
// CHECK:       ^[[SEVERAL]]:
// CHECK:         %[[WORDS:.*]] = llvm.mul %[[SHARES]], %{{.*}}
// CHECK-NEXT:    %[[BEGUN:.*]] = llvm.alloca %[[WORDS]] x i64 {alignment = 64 : i64}
// CHECK:         "llvm.intr.memset"(%[[BEGUN]],
// CHECK:         %[[CONTEXT:.*]] = llvm.alloca %{{.*}} x !llvm.struct<(i64, f32, ptr)>
// CHECK:         llvm.store %[[SHARES]],
// CHECK:         llvm.store %[[X]],
// CHECK:         llvm.store %[[BEGUN]],
// CHECK:         %[[THREADS:.*]] = llvm.trunc %[[SHARES]] : i64 to i32
// CHECK:         %[[WORKER:.*]] = llvm.mlir.addressof @kernel_chunk_worker
// CHECK:         llvm.call @GOMP_parallel(%[[WORKER]], %[[CONTEXT]], %[[THREADS]], %{{.*}}) : (!llvm.ptr, !llvm.ptr, i32, i32) -> ()
// CHECK-NEXT:    llvm.return
llvm.func @kernel_chunk(i64, i64, i64, i64, f32)
llvm.func internal @kernel_chunks(%shares: i64, %x: f32) attributes {plumbline.fork = "kernel_chunk", plumbline.pieces = 4 : index} {
  %0 = llvm.mlir.constant(0 : i64) : i64
  llvm.call @kernel_chunk(%0, %0, %0, %shares, %x) : (i64, i64, i64, i64, f32) -> ()
  llvm.return
}

// -----

// Where chunks can fail, each has a failure of its own; the first chunk's is handed on.

// CHECK-LABEL: llvm.func internal @kernel_chunk_worker(
// CHECK:         %[[FAILURES:.*]] = llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
// CHECK:         %[[SHARE:.*]] = llvm.urem
// CHECK:         %[[PIECE:.*]] = llvm.atomicrmw
// CHECK-NEXT:    %[[PIECES:.*]] = llvm.mlir.constant(4 : i64)
// CHECK:         %[[BEFORE:.*]] = llvm.mul %[[SHARE]], %[[PIECES]]
// CHECK-NEXT:    %[[CHUNK:.*]] = llvm.add %[[BEFORE]], %[[PIECE]]
// CHECK-NEXT:    %[[WORDS:.*]] = llvm.mlir.constant(4 : i64)
// CHECK-NEXT:    %[[AT:.*]] = llvm.mul %[[CHUNK]], %[[WORDS]]
// CHECK-NEXT:    %[[OWN:.*]] = llvm.getelementptr %[[FAILURES]][%[[AT]]] : (!llvm.ptr, i64) -> !llvm.ptr, i64
// CHECK-NEXT:    llvm.call @kernel_chunk(%{{.*}}, %[[SHARE]], %[[PIECE]], %{{.*}}, %[[OWN]])

// On one thread nothing is done after a failure.
// CHECK-LABEL: llvm.func internal @kernel_chunks(
// CHECK-SAME:      %[[SHARES:.*]]: i64, %[[FAILURE:.*]]: !llvm.ptr)
// CHECK:         %[[CHUNKS:.*]] = llvm.mul %[[SHARES]],
// CHECK:         llvm.call @kernel_chunk(%{{.*}}, %{{.*}}, %{{.*}}, %[[SHARES]], %[[FAILURE]])
// CHECK-NEXT:    %[[FORMAT:.*]] = llvm.load %[[FAILURE]]
// CHECK-NEXT:    %[[NULL:.*]] = llvm.mlir.zero
// CHECK-NEXT:    %[[FINE:.*]] = llvm.icmp "eq" %[[FORMAT]], %[[NULL]]
// CHECK-NEXT:    llvm.cond_br %[[FINE]], ^{{.*}}, ^[[FAILED:.*]]
// CHECK:       ^[[FAILED]]:
// CHECK-NEXT:    llvm.return
// CHECK:         %[[WORDS:.*]] = llvm.mul %[[CHUNKS]], %{{.*}} : i64
// CHECK:         %[[FAILURES:.*]] = llvm.alloca %[[WORDS]] x i64
// CHECK:         "llvm.intr.memset"(%[[FAILURES]],
// CHECK:         llvm.store %[[FAILURES]],
// CHECK:         llvm.call @GOMP_parallel
// CHECK:         %[[NEXT:.*]] = llvm.add %[[NUMBER:.*]], %{{.*}} : i64
// CHECK-NEXT:    %[[CHUNK:.*]] = llvm.sub %[[CHUNKS]], %[[NEXT]]
// CHECK:         %[[OWN:.*]] = llvm.getelementptr %[[FAILURES]]
// CHECK:         %[[FORMAT:.*]] = llvm.load %[[OWN]]
// CHECK:         %[[FINE:.*]] = llvm.icmp "eq" %[[FORMAT]],
// CHECK:         %[[BYTES:.*]] = llvm.select %[[FINE]], %{{.*}}, %{{.*}} : i1, i64
// CHECK:         "llvm.intr.memcpy"(%[[FAILURE]], %[[OWN]], %[[BYTES]])
llvm.func @aligned_alloc(i64, i64) -> !llvm.ptr
llvm.func internal @kernel_chunk(%worker: i64, %share: i64, %piece: i64, %shares: i64) attributes {no_inline} {
  %0 = llvm.call @aligned_alloc(%shares, %shares) : (i64, i64) -> !llvm.ptr
  llvm.return
}
llvm.func internal @kernel_chunks(%shares: i64) attributes {plumbline.fork = "kernel_chunk", plumbline.pieces = 4 : index} {
  %0 = llvm.mlir.constant(0 : i64) : i64
  llvm.call @kernel_chunk(%0, %0, %0, %shares) : (i64, i64, i64, i64) -> ()
  llvm.return
}
