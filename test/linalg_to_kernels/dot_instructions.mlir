// RUN: tcp-opt %s '-form-fusion-groups=vector-bytes=64 vector-registers=32 vector-dots=vdpbf16ps,vpdpbusd' '-build-kernels=vector-bytes=64 vector-registers=32 vector-dots=vdpbf16ps,vpdpbusd' -canonicalize -cse | FileCheck %s
// RUN: tcp-opt %s '-form-fusion-groups=vector-bytes=32 vector-registers=16 vector-dots=vpmaddwd' '-build-kernels=vector-bytes=32 vector-registers=16 vector-dots=vpmaddwd' -canonicalize -cse | FileCheck %s --check-prefix=WORDS
// RUN: tcp-opt %s '-form-fusion-groups=vector-bytes=32 vector-registers=16 vector-dots=vpdpbusd,vpmaddwd' '-build-kernels=vector-bytes=32 vector-registers=16 vector-dots=vpdpbusd,vpmaddwd' -canonicalize -cse | FileCheck %s --check-prefix=VEX
// RUN: tcp-opt %s '-form-fusion-groups=vector-bytes=64 vector-registers=32' '-build-kernels=vector-bytes=64 vector-registers=32' -canonicalize -cse | FileCheck %s --check-prefix=WITHOUT
// RUN: tcp-opt %s '-form-fusion-groups=vector-bytes=16 vector-registers=32 vector-dots=sdot' '-build-kernels=vector-bytes=16 vector-registers=32 vector-dots=sdot' -canonicalize -cse | FileCheck %s --check-prefix=AARCH64
// RUN: tcp-opt %s '-form-fusion-groups=vector-bytes=16 vector-registers=8 vector-dots=vmlava' '-build-kernels=vector-bytes=16 vector-registers=8 vector-dots=vmlava' -canonicalize -cse | FileCheck %s --check-prefix=HELIUM
// RUN: tcp-opt %s '-form-fusion-groups=vector-bytes=4 vector-registers=32 vector-dots=smlad' '-build-kernels=vector-bytes=4 vector-registers=32 vector-dots=smlad' -canonicalize -cse -multiply-halves | FileCheck %s --check-prefix=HALVES

// A CPU that adds up products of two pairs of bf16 at once is given weights whose rows are interleaved, and
// takes two summed elements in each turn of the innermost loop. Others widen each element, as is done where
// the number of summed elements is odd. Of int8 it takes four, those of the left operand without a sign: the
// operand is copied with 128 added, and sums begin with what that comes to, subtracted.

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK:       func.func @linear(
// CHECK-SAME:    plumbline.layout = "perm_0_1_pos_0_tile_{{[0-9]+}}_interleaved_2"
// CHECK:       func.func @odd(
// CHECK-SAME:    plumbline.layout = "perm_0_1_pos_0_tile_{{[0-9]+}}",
// CHECK:       func.func @bytes(
// CHECK-SAME:    plumbline.layout = "perm_0_1_pos_0_tile_{{[0-9]+}}_interleaved_4"
// CHECK:       func.func private @matmul_kernel(
// CHECK:         scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step %c2 iter_args(
// CHECK:           %[[COLUMNS:.*]] = vector.load %{{.*}} : memref<{{.*}}xbf16, {{.*}}>, vector<32xbf16>
// CHECK:           %[[RIGHT:.*]] = vector.bitcast %[[COLUMNS]] : vector<32xbf16> to vector<16xi32>
// CHECK:           %[[TWO:.*]] = vector.load %{{.*}} : memref<{{.*}}xbf16, {{.*}}>, vector<2xbf16>
// CHECK:           %[[ONE:.*]] = vector.bitcast %[[TWO]] : vector<2xbf16> to vector<1xi32>
// CHECK:           %[[PAIR:.*]] = vector.extract %[[ONE]][0]
// CHECK:           %[[LEFT:.*]] = vector.broadcast %[[PAIR]] : i32 to vector<16xi32>
// CHECK:           llvm.inline_asm "vdpbf16ps $2, $1, $0", "=v,v,v,0" %[[LEFT]], %[[RIGHT]], %{{.*}} : (vector<16xi32>, vector<16xi32>, vector<16xf32>) -> vector<16xf32>

// CHECK:       func.func private @matmul_kernel_{{[0-9]+}}(%{{.*}}: memref<{{.*}}xi8
// CHECK:         %[[COPY:.*]] = memref.alloc(%{{.*}}) {alignment = 64 : i64} : memref<?xi8>
// CHECK:         %[[SIGNED:.*]] = memref.load
// CHECK:         %[[UNSIGNED:.*]] = arith.xori %[[SIGNED]], %c-128_i8 : i8
// CHECK:         memref.store %[[UNSIGNED]], %[[COPY]]
// CHECK:         %[[ADDED:.*]]:{{[0-9]}} = scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c4 iter_args(
// CHECK:           llvm.inline_asm "vpdpbusd $2, $1, $0", "=v,v,v,0" %cst{{.*}}, %{{.*}}, %{{.*}} : (vector<16xi32>, vector<16xi32>, vector<16xi32>) -> vector<16xi32>
// CHECK:         arith.subi %cst{{.*}}, %[[ADDED]]#0
// CHECK:         scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c4 iter_args(
// CHECK:           vector.load %[[COPY]][%{{.*}}] : memref<?xi8>, vector<4xi8>

// Without an instruction for bytes they are words, those of the right operand as they are read.
// WORDS:       func.func @bytes(
// WORDS-SAME:    plumbline.layout = "perm_0_1_pos_0_tile_{{[0-9]+}}_interleaved_2"
// WORDS:       func.func private @matmul_kernel_{{[0-9]+}}(%{{.*}}: memref<{{.*}}xi8
// WORDS:         memref.alloc(%{{.*}}) {alignment = 64 : i64} : memref<?xi16>
// WORDS:         arith.extsi %{{.*}} : i8 to i16
// WORDS:         %[[BYTES:.*]] = vector.load %{{.*}} : memref<{{.*}}xi8, {{.*}}>, vector<16xi8>
// WORDS-NEXT:    %[[WIDE:.*]] = arith.extsi %[[BYTES]] : vector<16xi8> to vector<16xi16>
// WORDS-NEXT:    %[[RIGHT:.*]] = vector.bitcast %[[WIDE]] : vector<16xi16> to vector<8xi32>
// WORDS:         %[[PRODUCTS:.*]] = llvm.inline_asm "vpmaddwd $2, $1, $0", "=v,v,v" %{{.*}}, %[[RIGHT]] : (vector<8xi32>, vector<8xi32>) -> vector<8xi32>
// WORDS:         arith.addi %{{.*}}, %[[PRODUCTS]] : vector<8xi32>

// Assemblers take the instruction for that of AVX-512 unless they are told that it is older.
// VEX:         llvm.inline_asm "{vex} vpdpbusd $2, $1, $0", "=v,v,v,0" {{.*}} -> vector<8xi32>

// That of AArch64 takes bytes as they are, so that no operand is copied.
// AARCH64:     func.func private @matmul_kernel_{{[0-9]+}}(%{{.*}}: memref<{{.*}}xi8
// AARCH64-NOT:   xori
// AARCH64:       %[[FOUR:.*]] = vector.broadcast %{{.*}} : i32 to vector<4xi32>
// AARCH64:       %[[LEFT:.*]] = vector.bitcast %[[FOUR]] : vector<4xi32> to vector<16xi8>
// AARCH64:       arm_neon.intr.sdot %{{.*}}, %[[LEFT]], %{{.*}} : vector<16xi8>, vector<16xi8> to vector<4xi32>

// Those of microcontrollers add to one integer: what Helium's vectors hold at once, or four bytes by halves of
// registers, the even ones and the odd ones.
// HELIUM:      func.func @bytes(
// HELIUM-SAME:   plumbline.layout = "perm_0_1_pos_0_tile_{{[0-9]+}}_interleaved_16"
// HELIUM:      func.func private @matmul_kernel_{{[0-9]+}}(%{{.*}}: memref<{{.*}}xi8
// HELIUM:        %[[RIGHT:.*]] = vector.load %{{.*}} : memref<{{.*}}xi8, {{.*}}>, vector<16xi8>
// HELIUM:        vector.load %{{.*}} : memref<{{.*}}xi8, {{.*}}>, vector<16xi8>
// HELIUM:        %[[LEFT:.*]] = vector.load %{{.*}} : memref<{{.*}}xi8, {{.*}}>, vector<16xi8>
// HELIUM:        %[[WIDE:.*]] = arith.extsi %[[LEFT]] : vector<16xi8> to vector<16xi32>
// HELIUM:        %[[OTHER:.*]] = arith.extsi %[[RIGHT]] : vector<16xi8> to vector<16xi32>
// HELIUM:        %[[PRODUCTS:.*]] = arith.muli %[[WIDE]], %[[OTHER]] : vector<16xi32>
// HELIUM:        vector.reduction <add>, %[[PRODUCTS]], %{{.*}} : vector<16xi32> into i32

// HALVES:      func.func @bytes(
// HALVES-SAME:   plumbline.layout = "perm_0_1_pos_0_tile_{{[0-9]+}}_interleaved_4"
// HALVES:      func.func private @matmul_kernel_{{[0-9]+}}(%{{.*}}: memref<{{.*}}xi8
// HALVES:        %[[LEFT:.*]] = llvm.call_intrinsic "llvm.arm.sxtb16"
// HALVES:        %[[ODD_LEFT:.*]] = llvm.call_intrinsic "llvm.arm.sxtb16"
// HALVES:        %[[RIGHT:.*]] = llvm.call_intrinsic "llvm.arm.sxtb16"
// HALVES:        %[[ODD_RIGHT:.*]] = llvm.call_intrinsic "llvm.arm.sxtb16"
// HALVES:        %[[EVEN:.*]] = llvm.call_intrinsic "llvm.arm.smlad"(%[[LEFT]], %[[RIGHT]], %{{.*}}) : (i32, i32, i32) -> i32
// HALVES:        llvm.call_intrinsic "llvm.arm.smlad"(%[[ODD_LEFT]], %[[ODD_RIGHT]], %[[EVEN]]) : (i32, i32, i32) -> i32

// WITHOUT-NOT: {{_interleaved|inline_asm}}
// WITHOUT:     arith.extf
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

func.func @odd(%w: tensor<100x81xbf16> {plumbline.weight = "w"}, %x: tensor<60x81xbf16>, %y: tensor<60x100xf32>) -> tensor<60x100xf32> {
  %0 = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<60x81xbf16>, tensor<100x81xbf16>) outs(%y : tensor<60x100xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %c = arith.extf %a : bf16 to f32
    %d = arith.extf %b : bf16 to f32
    %m = arith.mulf %c, %d : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<60x100xf32>
  return %0 : tensor<60x100xf32>
}

func.func @bytes(%w: tensor<100x80xi8> {plumbline.weight = "w"}, %x: tensor<60x80xi8>, %y: tensor<60x100xi32>) -> tensor<60x100xi32> {
  %0 = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<60x80xi8>, tensor<100x80xi8>) outs(%y : tensor<60x100xi32>) {
  ^bb0(%a: i8, %b: i8, %o: i32):
    %c = arith.extsi %a : i8 to i32
    %d = arith.extsi %b : i8 to i32
    %m = arith.muli %c, %d : i32
    %s = arith.addi %o, %m : i32
    linalg.yield %s : i32
  } -> tensor<60x100xi32>
  return %0 : tensor<60x100xi32>
}
