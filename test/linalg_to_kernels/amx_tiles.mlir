// RUN: tcp-opt %s '-form-fusion-groups=vector-bytes=64 vector-registers=32 vector-dots=tdpbf16ps,tdpbssd' '-build-kernels=vector-bytes=64 vector-registers=32 vector-dots=tdpbf16ps,tdpbssd' -canonicalize -cse | FileCheck %s

// A CPU with registers for matrices adds up 16 x 16 sums of 32 products of bf16 each at once. The left
// operand is copied; a tile is 2 x 2 of these, whose sums wait in a buffer. Of 80
// summed elements the last 16 are rows of half a register, for which the CPU is told that they are.

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK:       func.func @linear(
// CHECK-SAME:    plumbline.layout = "perm_0_1_pos_0_tile_32_interleaved_2"
// CHECK:       func.func @bytes(
// CHECK-SAME:    plumbline.layout = "perm_0_1_pos_0_tile_64_interleaved_4"
// CHECK:       func.func private @matmul_kernel(
// CHECK-DAG:     %[[WHOLE:.*]] = arith.constant dense<[1, 0, 0, 0, 4194368, 4194368, 4194368, 4194368, 0, 0, 0, 0, 269488144, 269488144, 0, 0]> : vector<16xi32>
// CHECK-DAG:     %[[OF_REST:.*]] = arith.constant dense<[1, 0, 0, 0, 4194368, 4194368, 2097184, 4194368, 0, 0, 0, 0, 269488144, 134746128, 0, 0]> : vector<16xi32>
// CHECK:         %[[COPY:.*]] = memref.alloc(%{{.*}}) {alignment = 64 : i64} : memref<?xbf16>
// CHECK:         scf.for %{{.*}} = %c0 to %c64 step %c32
// CHECK:           %[[LINE:.*]] = vector.load %{{.*}}, vector<32xbf16>
// CHECK:           vector.store %[[LINE]], %[[COPY]]
// CHECK:         %[[REST:.*]] = vector.load %{{.*}}, vector<16xbf16>
// CHECK:         vector.store %[[REST]], %[[COPY]]
// CHECK:         vector.store %[[WHOLE]], %[[CONFIGURATION:.*]][%c0]
// CHECK:         llvm.inline_asm has_side_effects "ldtilecfg ($0)"
// CHECK:         llvm.inline_asm has_side_effects "tilezero %tmm3"
// CHECK:         scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c32
// CHECK:           llvm.inline_asm has_side_effects "tileloadd ($0,$1), %tmm4"
// CHECK:           llvm.inline_asm has_side_effects "tileloadd ($0,$1), %tmm5"
// CHECK:           llvm.inline_asm has_side_effects "tileloadd ($0,$1), %tmm6"
// CHECK:           llvm.inline_asm has_side_effects "tdpbf16ps %tmm6, %tmm4, %tmm0"
// CHECK:           llvm.inline_asm has_side_effects "tdpbf16ps %tmm6, %tmm5, %tmm2"
// CHECK:           llvm.inline_asm has_side_effects "tileloadd ($0,$1), %tmm7"
// CHECK:           llvm.inline_asm has_side_effects "tdpbf16ps %tmm7, %tmm4, %tmm1"
// CHECK:           llvm.inline_asm has_side_effects "tdpbf16ps %tmm7, %tmm5, %tmm3"
// CHECK:         llvm.inline_asm has_side_effects "tilestored %tmm3, ($0,$1)"
// CHECK:         vector.store %[[OF_REST]], %[[CONFIGURATION]][%c0]
// CHECK:         llvm.inline_asm has_side_effects "ldtilecfg ($0)"
// CHECK:         llvm.inline_asm has_side_effects "tileloadd ($0,$1), %tmm3"
// CHECK:         llvm.inline_asm has_side_effects "tdpbf16ps %tmm7, %tmm5, %tmm3"
// CHECK:         llvm.inline_asm has_side_effects "tilestored %tmm3, ($0,$1)"
// CHECK:         llvm.inline_asm has_side_effects "tilerelease"
func.func @linear(%w: tensor<100x80xbf16> {plumbline.weight = "w"}, %x: tensor<60x80xbf16>, %y: tensor<60x100xf32>) -> tensor<60x100xf32> {
  %0 = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<60x80xbf16>, tensor<100x80xbf16>) outs(%y : tensor<60x100xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %c = arith.extf %a : bf16 to f32
    %d = arith.extf %b : bf16 to f32
    %m = arith.mulf %c, %d : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<60x100xf32>
  return %0 : tensor<60x100xf32>
}

// Of up to 16 rows a tile is 1 x 4.
// CHECK:       func.func private @matmul_kernel_{{[0-9]+}}(
// CHECK:         llvm.inline_asm has_side_effects "tileloadd ($0,$1), %tmm4"
// CHECK:         llvm.inline_asm has_side_effects "tdpbssd %tmm5, %tmm4, %tmm0"
// CHECK:         llvm.inline_asm has_side_effects "tdpbssd %tmm6, %tmm4, %tmm1"
// CHECK:         llvm.inline_asm has_side_effects "tdpbssd %tmm7, %tmm4, %tmm2"
// CHECK:         llvm.inline_asm has_side_effects "tdpbssd %tmm5, %tmm4, %tmm3"
func.func @bytes(%w: tensor<100x128xi8> {plumbline.weight = "w"}, %x: tensor<9x128xi8>, %y: tensor<9x100xi32>) -> tensor<9x100xi32> {
  %0 = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<9x128xi8>, tensor<100x128xi8>) outs(%y : tensor<9x100xi32>) {
  ^bb0(%a: i8, %b: i8, %o: i32):
    %c = arith.extsi %a : i8 to i32
    %d = arith.extsi %b : i8 to i32
    %m = arith.muli %c, %d : i32
    %s = arith.addi %o, %m : i32
    linalg.yield %s : i32
  } -> tensor<9x100xi32>
  return %0 : tensor<9x100xi32>
}
