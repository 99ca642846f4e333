// RUN: tcp-opt %s -ask-for-tiles -split-input-file | FileCheck %s
// RUN: tcp-opt %s -ask-for-tiles -split-input-file | FileCheck %s --check-prefix=WITHOUT

// A program whose kernels use AMX's registers asks Linux for them in each public function, and fails
// where they are not to be had. What Linux said is kept.

// CHECK:       func.func private @kernel
// CHECK-NOT:     plumbline_may_use_tiles
// CHECK:       func.func @program
// CHECK-NEXT:    %[[MAY:.*]] = llvm.call @plumbline_may_use_tiles() : () -> i1
// CHECK:         call @plumbline_require(%[[MAY]], {{.*}}) {plumbline.message = "the system does not let this process use AMX's registers
// CHECK:         call @kernel
// CHECK:       llvm.mlir.global internal @plumbline_uses_tiles(0 : i64) {{.*}}alignment = 8 : i64
// CHECK:       llvm.func @syscall(i64, ...) -> i64
// CHECK:       llvm.func internal @plumbline_may_use_tiles() -> i1
// CHECK:         %[[KEPT:.*]] = llvm.load %{{.*}} atomic monotonic {alignment = 8 : i64}
// CHECK:         %[[NUMBER:.*]] = llvm.mlir.constant(158 : i64)
// CHECK:         %[[REQUEST:.*]] = llvm.mlir.constant(4131 : i64)
// CHECK:         %[[TILES:.*]] = llvm.mlir.constant(18 : i64)
// CHECK:         llvm.call @syscall(%[[NUMBER]], %[[REQUEST]], %[[TILES]]) vararg
// CHECK:         llvm.store %{{.*}}, %{{.*}} atomic monotonic {alignment = 8 : i64}
func.func private @kernel(%address: i64) {
  llvm.inline_asm has_side_effects "ldtilecfg ($0)", "r,~{memory}" %address : (i64) -> ()
  return
}

func.func @program(%address: i64) {
  call @kernel(%address) : (i64) -> ()
  return
}

// -----

// WITHOUT-LABEL: func.func @without
// WITHOUT-NEXT:    llvm.inline_asm
func.func @without(%x: vector<16xi32>) -> vector<16xi32> {
  %0 = llvm.inline_asm "vpmaddwd $2, $1, $0", "=v,v,v" %x, %x : (vector<16xi32>, vector<16xi32>) -> vector<16xi32>
  return %0 : vector<16xi32>
}
