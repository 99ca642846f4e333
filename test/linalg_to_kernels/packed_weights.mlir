// RUN: tcp-opt %s -form-fusion-groups -build-kernels -canonicalize -cse | FileCheck %s

// Weights that a contraction reads along the way that PyTorch does not keep them are arguments of the
// function in panels, once for all kernels that read them so; the others stay as they are, as does
// what something else reads as well.

#xt = affine_map<(m, n, k) -> (m, k)>
#wt = affine_map<(m, n, k) -> (n, k)>
#ot = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>

// CHECK:      func.func @f(
// CHECK-SAME:   %[[PACKED:[^:]*]]: tensor<7x80x16xf32> {plumbline.layout = "perm_0_1_pos_0_tile_16", plumbline.weight = "packed"},
// CHECK-SAME:   %[[BOTH:[^:]*]]: tensor<100x80xf32> {plumbline.weight = "both"},
// CHECK-SAME:   %[[COPY:[^:]*]]: tensor<7x80x16xf32> {plumbline.layout = "perm_0_1_pos_0_tile_16", plumbline.weight = "both"},
// CHECK-SAME:   %[[PARAMETER:[^:]*]]: tensor<100x80xf32> {plumbline.parameter = "given"},
// CHECK-SAME:   %[[X:[^:]*]]: tensor<60x80xf32>)
// CHECK:         %[[BUFFER:.*]] = bufferization.to_buffer %[[PACKED]] read_only
// CHECK-NEXT:    %[[PANELS:.*]] = memref.cast %[[BUFFER]]
// CHECK:         call @[[PACKED_KERNEL:matmul_kernel[_0-9]*]](%{{.*}}, %[[PANELS]], %{{.*}})
// CHECK:         call @[[PACKED_KERNEL]](%{{.*}}, %[[PANELS]], %{{.*}})
// CHECK:         %[[BUFFER:.*]] = bufferization.to_buffer %[[COPY]] read_only
// CHECK-NEXT:    %[[PANELS:.*]] = memref.cast %[[BUFFER]]
// CHECK:         call @[[PACKED_KERNEL]](%{{.*}}, %[[PANELS]], %{{.*}})
// CHECK:         %[[BUFFER:.*]] = bufferization.to_buffer %[[PARAMETER]] read_only
// CHECK-NEXT:    %[[IN_PLACE:.*]] = memref.cast %[[BUFFER]]
// CHECK:         call @matmul_kernel{{[_0-9]*}}(%{{.*}}, %[[IN_PLACE]], %{{.*}})
// CHECK:         %[[BUFFER:.*]] = bufferization.to_buffer %[[BOTH]] read_only
// CHECK:         call @exp_kernel(%[[BUFFER]], %{{.*}})
func.func @f(%packed: tensor<100x80xf32> {plumbline.weight = "packed"}, %both: tensor<100x80xf32> {plumbline.weight = "both"}, %given: tensor<100x80xf32> {plumbline.parameter = "given"}, %x: tensor<60x80xf32>) -> (tensor<60x100xf32>, tensor<60x100xf32>, tensor<60x100xf32>, tensor<60x100xf32>, tensor<100x80xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<60x100xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<60x100xf32>) -> tensor<60x100xf32>
  %r0 = linalg.generic {indexing_maps = [#xt, #wt, #ot], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %packed : tensor<60x80xf32>, tensor<100x80xf32>) outs(%z : tensor<60x100xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<60x100xf32>
  %r1 = linalg.generic {indexing_maps = [#xt, #wt, #ot], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %packed : tensor<60x80xf32>, tensor<100x80xf32>) outs(%z : tensor<60x100xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<60x100xf32>
  %r2 = linalg.generic {indexing_maps = [#xt, #wt, #ot], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %both : tensor<60x80xf32>, tensor<100x80xf32>) outs(%z : tensor<60x100xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<60x100xf32>
  %r3 = linalg.generic {indexing_maps = [#xt, #wt, #ot], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %given : tensor<60x80xf32>, tensor<100x80xf32>) outs(%z : tensor<60x100xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<60x100xf32>
  %u = tensor.empty() : tensor<100x80xf32>
  %r4 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%both : tensor<100x80xf32>) outs(%u : tensor<100x80xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<100x80xf32>
  return %r0, %r1, %r2, %r3, %r4 : tensor<60x100xf32>, tensor<60x100xf32>, tensor<60x100xf32>, tensor<60x100xf32>, tensor<100x80xf32>
}
