// RUN: tcp-opt %s -multiply-byte-counts | FileCheck %s

// CHECK-LABEL: llvm.func @sizes
// CHECK-SAME: (%[[COUNT:.*]]: i64)
llvm.func @sizes(%count: i64) -> i64 {
  %null = llvm.mlir.zero : !llvm.ptr
  // CHECK: %[[FOUR:.*]] = llvm.mlir.constant(4 : i64)
  // CHECK: %[[FLOATS:.*]] = llvm.mul %[[COUNT]], %[[FOUR]]
  %floats = llvm.getelementptr %null[%count] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %float_bytes = llvm.ptrtoint %floats : !llvm.ptr to i64
  // Booleans have a byte each.
  // CHECK: %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
  // CHECK: %[[BOOLEANS:.*]] = llvm.mul %[[COUNT]], %[[ONE]]
  %booleans = llvm.getelementptr %null[%count] : (!llvm.ptr, i64) -> !llvm.ptr, i1
  %boolean_bytes = llvm.ptrtoint %booleans : !llvm.ptr to i64
  // CHECK: %[[KNOWN:.*]] = llvm.mlir.constant(56 : i64)
  %seven = llvm.mlir.constant(7 : i64) : i64
  %doubles = llvm.getelementptr %null[%seven] : (!llvm.ptr, i64) -> !llvm.ptr, f64
  %double_bytes = llvm.ptrtoint %doubles : !llvm.ptr to i64
  // CHECK-NOT: llvm.ptrtoint
  // CHECK: llvm.add %[[FLOATS]], %[[BOOLEANS]]
  %some = llvm.add %float_bytes, %boolean_bytes : i64
  // CHECK: llvm.add %{{.*}}, %[[KNOWN]]
  %all = llvm.add %some, %double_bytes : i64
  llvm.return %all : i64
}

// What is the address of something is left.
// CHECK-LABEL: llvm.func @address
llvm.func @address(%place: !llvm.ptr, %count: i64) -> i64 {
  // CHECK: llvm.getelementptr %{{.*}}[%{{.*}}]
  // CHECK: llvm.ptrtoint
  %element = llvm.getelementptr %place[%count] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %address = llvm.ptrtoint %element : !llvm.ptr to i64
  llvm.return %address : i64
}

// More than a number of 64 bits is the largest, as so much memory is not to be had: not what is left of it.
// CHECK-LABEL: llvm.func @too_many
llvm.func @too_many() -> i64 {
  // CHECK: %[[MOST:.*]] = llvm.mlir.constant(9223372036854775807 : i64)
  // CHECK: llvm.return %[[MOST]]
  %count = llvm.mlir.constant(4611686018427387905 : i64) : i64
  %null = llvm.mlir.zero : !llvm.ptr
  %floats = llvm.getelementptr %null[%count] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %bytes = llvm.ptrtoint %floats : !llvm.ptr to i64
  llvm.return %bytes : i64
}
