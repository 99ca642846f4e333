// RUN: tcp-opt %s '-form-fusion-groups=vector-bytes=64 vector-registers=32' | FileCheck %s --check-prefix=GROUPS
// RUN: tcp-opt %s '-form-fusion-groups=vector-bytes=64 vector-registers=32 vector-dots=vpdpbusd,vpmaddwd' '-build-kernels=vector-bytes=64 vector-registers=32 vector-dots=vpdpbusd,vpmaddwd' -canonicalize -cse | FileCheck %s
// RUN: tcp-opt %s '-form-fusion-groups=vector-bytes=32 vector-registers=16 vector-dots=vpmaddwd' '-build-kernels=vector-bytes=32 vector-registers=16 vector-dots=vpmaddwd' -canonicalize -cse | FileCheck %s --check-prefix=WORDS
// RUN: tcp-opt %s '-form-fusion-groups=vector-bytes=16 vector-registers=32 vector-dots=sdot' '-build-kernels=vector-bytes=16 vector-registers=32 vector-dots=sdot' -canonicalize -cse | FileCheck %s --check-prefix=AARCH64
// RUN: tcp-opt %s '-form-fusion-groups=vector-bytes=16 vector-registers=16' '-build-kernels=vector-bytes=16 vector-registers=16' -canonicalize -cse | FileCheck %s --check-prefix=WITHOUT

// Rows of int8 by weights of 4 bits, two in a byte, with a scale for each block of 32 summed elements and
// each column: one kernel reads the bytes, which lie as it takes them, and writes the result.

#bmk = affine_map<(b, m, k, n) -> (b, m, k)>
#bkn = affine_map<(b, m, k, n) -> (b, k, n)>
#bmn_of_four = affine_map<(b, m, k, n) -> (b, m, n)>
#bkpc = affine_map<(b, k, p, c) -> (b, k, p, c)>
#bkc = affine_map<(b, k, p, c) -> (b, k, c)>
#bmn = affine_map<(b, m, n) -> (b, m, n)>
#bm = affine_map<(b, m, n) -> (b, m)>
#bn = affine_map<(b, m, n) -> (b, n)>
#mn = affine_map<(b, m, n) -> (m, n)>

// GROUPS:      func.func @scaled(
// GROUPS:        call @[[GROUP:[a-z_]*]](
// GROUPS-NOT:    call @
// GROUPS:        return
// GROUPS:      func.func private @[[GROUP]](%{{.*}}: tensor<2x32x64xi8> {plumbline.constant}, %{{.*}}: index, %{{.*}}: tensor<2x?x32xi8>, %{{.*}}: tensor<2x?xf32>, %{{.*}}: tensor<2x128xf32> {plumbline.constant}) -> tensor<?x128xf32>

// Of two vectors of sums for a row, 32 registers hold those of four rows; others are done by two and by one.
// CHECK:       func.func @scaled(
// CHECK-SAME:    tensor<4x2x32x16xi8> {plumbline.layout = "perm_2_0_1_pos_2_tile_16_interleaved_4", plumbline.weight = "bytes"}
// CHECK-SAME:    tensor<8x2x16xf32> {plumbline.layout = "perm_1_0_pos_1_tile_16", plumbline.weight = "scales"}
// CHECK:       func.func private @[[KERNEL:.*]](
// CHECK:         scf.for %{{.*}} = %c0 to %c4 step %c1 {
// CHECK:           scf.for %{{.*}} = %c0 to %{{.*}} step %c4 {
// CHECK:             scf.for %{{.*}} = %c0 to %c2 step %c1 iter_args(
// CHECK:               %[[BYTES:.*]] = vector.load %{{.*}} : memref<?xi8, {{.*}}>, vector<64xi8>
// CHECK:               %[[LOW:.*]] = arith.andi %[[BYTES]], %cst{{.*}} : vector<64xi8>
// CHECK:               %[[LANES:.*]] = vector.bitcast %[[LOW]] : vector<64xi8> to vector<16xi32>
// CHECK:               %[[SHIFTED:.*]] = arith.shrui %[[BYTES]], %cst{{.*}} : vector<64xi8>
// CHECK:               %[[FOUR:.*]] = vector.load %{{.*}} : memref<?xi8, {{.*}}>, vector<4xi8>
// CHECK:               %[[ONE:.*]] = vector.bitcast %[[FOUR]] : vector<4xi8> to vector<1xi32>
// CHECK:               %[[ELEMENT:.*]] = vector.extract %[[ONE]][0]
// CHECK:               %[[ROW:.*]] = vector.broadcast %[[ELEMENT]] : i32 to vector<16xi32>
// CHECK:               llvm.inline_asm "vpdpbusd $2, $1, $0", "=v,v,v,0" %[[LANES]], %[[ROW]],
// CHECK:               arith.sitofp %{{.*}} : vector<16xi32> to vector<16xf32>
// CHECK:               vector.load %{{.*}} : memref<?xf32, {{.*}}>, vector<16xf32>
// CHECK:           scf.for %{{.*}} step %c2 {
// CHECK:           scf.for %{{.*}} step %c1 {

// Weights are below 128, so that pairs of products are words.
// WORDS:       func.func private @
// WORDS:         %[[PAIRS:.*]] = llvm.inline_asm "vpmaddubsw $2, $1, $0", "=v,v,v" %{{.*}}, %{{.*}} : (vector<8xi32>, vector<8xi32>) -> vector<8xi32>
// WORDS:         %[[FOURS:.*]] = llvm.inline_asm "vpmaddwd $2, $1, $0", "=v,v,v" %[[PAIRS]], %cst{{.*}}
// WORDS:         arith.addi %[[FOURS]], %{{.*}} : vector<8xi32>

// AARCH64:     func.func private @
// AARCH64:       arm_neon.intr.sdot

// WITHOUT:     func.func private @
// WITHOUT-NOT:   inline_asm
// WITHOUT:       vector.shuffle %{{.*}} [0, 2, 4, 6] : vector<8xi16>, vector<8xi16>
// WITHOUT:       arith.muli %{{.*}}, %{{.*}} : vector<4xi32>
func.func @scaled(%bytes: tensor<2x32x64xi8> {plumbline.weight = "bytes"}, %scales: tensor<2x128xf32> {plumbline.weight = "scales"}, %rows: tensor<2x?x32xi8>, %by: tensor<2x?xf32>) -> tensor<?x128xf32> {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %nothing = arith.constant 0.0 : f32
  %four = arith.constant 4 : i8
  %low = arith.constant dense<15> : tensor<2x32x2x64xi8>
  %count = tensor.dim %rows, %c1 : tensor<2x?x32xi8>
  %space = tensor.empty() : tensor<2x32x2x64xi8>
  %moved = linalg.generic {indexing_maps = [#bkc, #bkpc], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%bytes : tensor<2x32x64xi8>) outs(%space : tensor<2x32x2x64xi8>) {
  ^bb0(%byte: i8, %_: i8):
    %part = linalg.index 2 : index
    %number = arith.index_cast %part : index to i8
    %first = arith.muli %number, %four : i8
    %shifted = arith.shrui %byte, %first : i8
    linalg.yield %shifted : i8
  } -> tensor<2x32x2x64xi8>
  %weights = linalg.generic {indexing_maps = [#bkpc, #bkpc, #bkpc], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%moved, %low : tensor<2x32x2x64xi8>, tensor<2x32x2x64xi8>) outs(%space : tensor<2x32x2x64xi8>) {
  ^bb0(%byte: i8, %mask: i8, %_: i8):
    %weight = arith.andi %byte, %mask : i8
    linalg.yield %weight : i8
  } -> tensor<2x32x2x64xi8>
  %matrix = tensor.collapse_shape %weights [[0], [1], [2, 3]] : tensor<2x32x2x64xi8> into tensor<2x32x128xi8>
  %empty = tensor.empty(%count) : tensor<2x?x128xi32>
  %zeros = linalg.generic {indexing_maps = [#bmn], iterator_types = ["parallel", "parallel", "parallel"]} outs(%empty : tensor<2x?x128xi32>) {
  ^bb0(%_: i32):
    linalg.yield %zero : i32
  } -> tensor<2x?x128xi32>
  %sums = linalg.generic {indexing_maps = [#bmk, #bkn, #bmn_of_four], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%rows, %matrix : tensor<2x?x32xi8>, tensor<2x32x128xi8>) outs(%zeros : tensor<2x?x128xi32>) {
  ^bb0(%x: i8, %w: i8, %sum: i32):
    %wide = arith.extsi %x : i8 to i32
    %weight = arith.extsi %w : i8 to i32
    %product = arith.muli %wide, %weight : i32
    %next = arith.addi %sum, %product : i32
    linalg.yield %next : i32
  } -> tensor<2x?x128xi32>
  %terms_space = tensor.empty(%count) : tensor<2x?x128xf32>
  %terms = linalg.generic {indexing_maps = [#bmn, #bm, #bn, #bmn], iterator_types = ["parallel", "parallel", "parallel"]} ins(%sums, %by, %scales : tensor<2x?x128xi32>, tensor<2x?xf32>, tensor<2x128xf32>) outs(%terms_space : tensor<2x?x128xf32>) {
  ^bb0(%sum: i32, %of_row: f32, %of_column: f32, %_: f32):
    %float = arith.sitofp %sum : i32 to f32
    %scale = arith.mulf %of_row, %of_column : f32
    %term = arith.mulf %float, %scale : f32
    linalg.yield %term : f32
  } -> tensor<2x?x128xf32>
  %result_space = tensor.empty(%count) : tensor<?x128xf32>
  %nothings = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} outs(%result_space : tensor<?x128xf32>) {
  ^bb0(%_: f32):
    linalg.yield %nothing : f32
  } -> tensor<?x128xf32>
  %result = linalg.generic {indexing_maps = [#bmn, #mn], iterator_types = ["reduction", "parallel", "parallel"]} ins(%terms : tensor<2x?x128xf32>) outs(%nothings : tensor<?x128xf32>) {
  ^bb0(%term: f32, %sum: f32):
    %next = arith.addf %sum, %term : f32
    linalg.yield %next : f32
  } -> tensor<?x128xf32>
  return %result : tensor<?x128xf32>
}
