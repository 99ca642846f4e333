// RUN: tcp-opt %s '-form-fusion-groups=vector-bytes=64 vector-registers=32 vector-dots=bf16' '-build-kernels=vector-bytes=64 vector-registers=32 vector-dots=bf16' -canonicalize -cse | FileCheck %s
// RUN: tcp-opt %s '-form-fusion-groups=vector-bytes=64 vector-registers=32' '-build-kernels=vector-bytes=64 vector-registers=32' -canonicalize -cse | FileCheck %s --check-prefix=WITHOUT

// A CPU that adds up products of two pairs of bf16 at once is given weights whose columns stand in turns, and
// takes two summed elements in each turn of the innermost loop. Others widen each element, as is done where
// the number of summed elements is odd.

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK:       func.func @linear(
// CHECK-SAME:    plumbline.layout = "perm_0_1_pos_0_tile_{{[0-9]+}}_pairs"
// CHECK:       func.func @odd(
// CHECK-SAME:    plumbline.layout = "perm_0_1_pos_0_tile_{{[0-9]+}}",
// CHECK:       func.func private @matmul_kernel(
// CHECK:         scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step %c2 iter_args(
// CHECK:           %[[COLUMNS:.*]] = vector.load %{{.*}} : memref<{{.*}}xbf16, {{.*}}>, vector<32xbf16>
// CHECK:           %[[RIGHT:.*]] = vector.bitcast %[[COLUMNS]] : vector<32xbf16> to vector<16xi32>
// CHECK:           %[[TWO:.*]] = vector.load %{{.*}} : memref<{{.*}}xbf16, {{.*}}>, vector<2xbf16>
// CHECK:           %[[ONE:.*]] = vector.bitcast %[[TWO]] : vector<2xbf16> to vector<1xi32>
// CHECK:           %[[PAIR:.*]] = vector.extract %[[ONE]][0]
// CHECK:           %[[LEFT:.*]] = vector.broadcast %[[PAIR]] : i32 to vector<16xi32>
// CHECK:           llvm.inline_asm "vdpbf16ps $2, $1, $0", "=v,v,v,0" %[[LEFT]], %[[RIGHT]], %{{.*}} : (vector<16xi32>, vector<16xi32>, vector<16xf32>) -> vector<16xf32>

// WITHOUT-NOT: {{_pairs|inline_asm}}
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
