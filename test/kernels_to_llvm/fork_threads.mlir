// RUN: tcp-opt %s -return-failures -fork-threads -split-input-file | FileCheck %s

// CHECK-LABEL: llvm.func internal @kernel_chunk_worker(
// CHECK-SAME:      %[[CONTEXT:.*]]: !llvm.ptr)
// CHECK:         %[[PLACE:.*]] = llvm.getelementptr %[[CONTEXT]][0, 0] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(i64, f32)>
// CHECK-NEXT:    %[[CHUNKS:.*]] = llvm.load %[[PLACE]]
// CHECK:         %[[PLACE:.*]] = llvm.getelementptr %[[CONTEXT]][0, 1]
// CHECK-NEXT:    %[[X:.*]] = llvm.load %[[PLACE]] : !llvm.ptr -> f32
// CHECK-NEXT:    %[[NUMBER:.*]] = llvm.call @omp_get_thread_num() : () -> i32
// CHECK-NEXT:    %[[FIRST:.*]] = llvm.sext %[[NUMBER]] : i32 to i64
// CHECK-NEXT:    %[[COUNT:.*]] = llvm.call @omp_get_num_threads() : () -> i32
// CHECK-NEXT:    %[[THREADS:.*]] = llvm.sext %[[COUNT]] : i32 to i64
// CHECK-NEXT:    llvm.br ^[[HEAD:.*]](%[[FIRST]] : i64)
// CHECK:       ^[[HEAD]](%[[CHUNK:.*]]: i64):
// CHECK-NEXT:    %[[MORE:.*]] = llvm.icmp "slt" %[[CHUNK]], %[[CHUNKS]]
// CHECK-NEXT:    llvm.cond_br %[[MORE]], ^[[BODY:.*]], ^[[DONE:.*]]
// CHECK:       ^[[BODY]]:
// CHECK-NEXT:    llvm.call @kernel_chunk(%[[CHUNK]], %[[CHUNKS]], %[[X]])
// CHECK-NEXT:    llvm.add %[[CHUNK]], %[[THREADS]]
// CHECK:       ^[[DONE]]:
// CHECK-NEXT:    llvm.return

// CHECK-LABEL: llvm.func internal @kernel_chunks(
// CHECK-SAME:      %[[CHUNKS:.*]]: i64, %[[X:.*]]: f32)
// CHECK:         %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
// CHECK-NEXT:    %[[IS_FEW:.*]] = llvm.icmp "sle" %[[CHUNKS]], %[[ONE]]
// CHECK-NEXT:    llvm.cond_br %[[IS_FEW]], ^[[FEW:.*]], ^[[SEVERAL:.*]]
// CHECK:       ^[[FEW]]:
// CHECK-NEXT:    llvm.br ^[[HEAD:.*]](%{{.*}} : i64)
// CHECK:       ^[[HEAD]](%[[CHUNK:.*]]: i64):
// CHECK-NEXT:    llvm.icmp "slt" %[[CHUNK]], %[[CHUNKS]]
// CHECK:         llvm.call @kernel_chunk(%[[CHUNK]], %[[CHUNKS]], %[[X]])
// CHECK:         llvm.return
// CHECK:       ^[[SEVERAL]]:
// CHECK:         %[[CONTEXT:.*]] = llvm.alloca %{{.*}} x !llvm.struct<(i64, f32)>
// CHECK:         llvm.store %[[CHUNKS]],
// CHECK:         llvm.store %[[X]],
// CHECK:         %[[THREADS:.*]] = llvm.trunc %[[CHUNKS]] : i64 to i32
// CHECK:         %[[WORKER:.*]] = llvm.mlir.addressof @kernel_chunk_worker
// CHECK:         llvm.call @GOMP_parallel(%[[WORKER]], %[[CONTEXT]], %[[THREADS]], %{{.*}}) : (!llvm.ptr, !llvm.ptr, i32, i32) -> ()
// CHECK-NEXT:    llvm.return
llvm.func @kernel_chunk(i64, i64, f32)
llvm.func internal @kernel_chunks(%chunks: i64, %x: f32) attributes {plumbline.fork = "kernel_chunk"} {
  %0 = llvm.mlir.constant(0 : i64) : i64
  llvm.call @kernel_chunk(%0, %chunks, %x) : (i64, i64, f32) -> ()
  llvm.return
}

// -----

// Where chunks can fail, each has a failure of its own; the first chunk's is handed on.

// CHECK-LABEL: llvm.func internal @kernel_chunk_worker(
// CHECK:         %[[FAILURES:.*]] = llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
// CHECK-NEXT:    llvm.call @omp_get_thread_num
// CHECK:         %[[WORDS:.*]] = llvm.mlir.constant(4 : i64)
// CHECK-NEXT:    %[[AT:.*]] = llvm.mul %[[CHUNK:.*]], %[[WORDS]]
// CHECK-NEXT:    %[[OWN:.*]] = llvm.getelementptr %[[FAILURES]][%[[AT]]] : (!llvm.ptr, i64) -> !llvm.ptr, i64
// CHECK-NEXT:    llvm.call @kernel_chunk(%[[CHUNK]], %{{.*}}, %[[OWN]])

// CHECK-LABEL: llvm.func internal @kernel_chunks(
// CHECK-SAME:      %[[CHUNKS:.*]]: i64, %[[FAILURE:.*]]: !llvm.ptr)
// CHECK:         llvm.call @kernel_chunk(%{{.*}}, %[[CHUNKS]], %[[FAILURE]])
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
llvm.func internal @kernel_chunk(%chunk: i64, %chunks: i64) attributes {no_inline} {
  %0 = llvm.call @aligned_alloc(%chunks, %chunks) : (i64, i64) -> !llvm.ptr
  llvm.return
}
llvm.func internal @kernel_chunks(%chunks: i64) attributes {plumbline.fork = "kernel_chunk"} {
  %0 = llvm.mlir.constant(0 : i64) : i64
  llvm.call @kernel_chunk(%0, %chunks) : (i64, i64) -> ()
  llvm.return
}
