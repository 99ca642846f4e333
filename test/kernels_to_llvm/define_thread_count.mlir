// RUN: tcp-opt %s -define-thread-count | FileCheck %s

// CHECK-DAG: llvm.mlir.global internal constant @plumbline_threads_name("PLUMBLINE_THREADS\00")
// CHECK-DAG: llvm.mlir.global internal @plumbline_threads_kept(0 : i64) {{.*}}alignment = 8 : i64
// CHECK:     llvm.func internal @plumbline_threads(%[[COMPILED_FOR:.*]]: i64) -> i64
// CHECK:       %[[KEPT:.*]] = llvm.load %{{.*}} atomic monotonic {alignment = 8 : i64}
// CHECK:       llvm.call @getenv
// CHECK:       llvm.call @strtol
// CHECK:       llvm.call @dprintf
// CHECK:       llvm.store %[[FOUND:.*]], %{{.*}} atomic monotonic {alignment = 8 : i64}
// CHECK:       %[[NOTHING:.*]] = llvm.icmp "slt" %[[SAID:.*]], %{{.*}} : i64
// CHECK:       %[[THREADS:.*]] = llvm.select %[[NOTHING]], %[[COMPILED_FOR]], %[[SAID]]
// CHECK:       llvm.return %[[THREADS]]
llvm.func @plumbline_threads(i64) -> i64
llvm.func internal @kernel() -> i64 {
  %0 = llvm.mlir.constant(2 : i64) : i64
  %1 = llvm.call @plumbline_threads(%0) : (i64) -> i64
  llvm.return %1 : i64
}
