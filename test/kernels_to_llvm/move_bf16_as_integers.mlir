// RUN: tcp-opt %s -move-bf16-as-integers -canonicalize | FileCheck %s

// Loads, selects, branches, calls and stores move integers; memory keeps its type.

// CHECK-LABEL: llvm.func @moves(
// CHECK-SAME:      %[[FROM:.*]]: !llvm.ptr, %[[TO:.*]]: !llvm.ptr, %[[KEEP:.*]]: i1, %[[X:.*]]: i16) -> i16
// CHECK:         %[[AT:.*]] = llvm.getelementptr %[[FROM]][1] : (!llvm.ptr) -> !llvm.ptr, bf16
// CHECK:         %[[Y:.*]] = llvm.load %[[AT]] : !llvm.ptr -> i16
// CHECK:         %[[Z:.*]] = llvm.select %[[KEEP]], %[[X]], %[[Y]] : i1, i16
// CHECK:         llvm.cond_br %[[KEEP]], ^[[DONE:.*]](%[[Z]] : i16), ^[[OTHER:.*]]
// CHECK:         %[[W:.*]] = llvm.call @moves({{.*}}) : (!llvm.ptr, !llvm.ptr, i1, i16) -> i16
// CHECK:         llvm.br ^[[DONE]](%[[W]] : i16)
// CHECK:       ^[[DONE]](%[[LAST:.*]]: i16):
// CHECK:         llvm.store %[[LAST]], %[[TO]] : i16, !llvm.ptr
// CHECK:         llvm.return %[[LAST]] : i16
llvm.func @moves(%from: !llvm.ptr, %to: !llvm.ptr, %keep: i1, %x: bf16) -> bf16 {
  %at = llvm.getelementptr %from[1] : (!llvm.ptr) -> !llvm.ptr, bf16
  %y = llvm.load %at : !llvm.ptr -> bf16
  %z = llvm.select %keep, %x, %y : i1, bf16
  llvm.cond_br %keep, ^done(%z : bf16), ^other
^other:
  %w = llvm.call @moves(%from, %to, %keep, %z) : (!llvm.ptr, !llvm.ptr, i1, bf16) -> bf16
  llvm.br ^done(%w : bf16)
^done(%last: bf16):
  llvm.store %last, %to : bf16, !llvm.ptr
  llvm.return %last : bf16
}

// The integers that a value came from, or leads to, are its own: no cast is left.

// CHECK-LABEL: llvm.func @integers(
// CHECK-SAME:      %[[X:.*]]: vector<4xi16>) -> vector<4xi16>
// CHECK-NEXT:    llvm.return %[[X]] : vector<4xi16>
llvm.func @integers(%x: vector<4xi16>) -> vector<4xi16> {
  %0 = llvm.bitcast %x : vector<4xi16> to vector<4xbf16>
  %1 = llvm.bitcast %0 : vector<4xbf16> to vector<4xi16>
  llvm.return %1 : vector<4xi16>
}

// What computes keeps bf16, and constants are of it.

// CHECK-LABEL: llvm.func @computes(
// CHECK-SAME:      %[[X:.*]]: i16) -> i16
// CHECK-DAG:     %[[ONE:.*]] = llvm.mlir.constant(1.000000e+00 : bf16) : bf16
// CHECK-DAG:     %[[LEFT:.*]] = llvm.bitcast %[[X]] : i16 to bf16
// CHECK:         %[[SUM:.*]] = llvm.fadd %[[LEFT]], %[[ONE]] : bf16
// CHECK:         %[[BITS:.*]] = llvm.bitcast %[[SUM]] : bf16 to i16
// CHECK:         llvm.return %[[BITS]] : i16
llvm.func @computes(%x: bf16) -> bf16 {
  %one = llvm.mlir.constant(1.0 : bf16) : bf16
  %sum = llvm.fadd %x, %one : bf16
  llvm.return %sum : bf16
}

// A struct is moved with its parts.

// CHECK-LABEL: llvm.func @pair(
// CHECK-SAME:      -> !llvm.struct<(i16, i64)>
// CHECK:         llvm.insertvalue {{.*}}[0] : !llvm.struct<(i16, i64)>
llvm.func @pair(%x: bf16) -> !llvm.struct<(bf16, i64)> {
  %0 = llvm.mlir.undef : !llvm.struct<(bf16, i64)>
  %1 = llvm.insertvalue %x, %0[0] : !llvm.struct<(bf16, i64)>
  llvm.return %1 : !llvm.struct<(bf16, i64)>
}

// So do vectors of which only some lanes are moved.

// CHECK-LABEL: llvm.func @masked(
// CHECK:         %[[LANES:.*]] = llvm.intr.masked.load {{.*}} : (!llvm.ptr, vector<8xi1>, vector<8xi16>) -> vector<8xi16>
// CHECK:         llvm.intr.masked.store %[[LANES]], {{.*}} : vector<8xi16>, vector<8xi1> into !llvm.ptr
llvm.func @masked(%from: !llvm.ptr, %to: !llvm.ptr, %mask: vector<8xi1>) {
  %zero = llvm.mlir.constant(dense<0.0> : vector<8xbf16>) : vector<8xbf16>
  %lanes = llvm.intr.masked.load %from, %mask, %zero {alignment = 2 : i32} : (!llvm.ptr, vector<8xi1>, vector<8xbf16>) -> vector<8xbf16>
  llvm.intr.masked.store %lanes, %to, %mask {alignment = 2 : i32} : vector<8xbf16>, vector<8xi1> into !llvm.ptr
  llvm.return
}
