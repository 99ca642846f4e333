// Complex numbers times those of a constant, and how far the products are from 0.
func.func @turned_rows(%x: tensor<?x3xcomplex<f32>>) -> (tensor<?x3xcomplex<f32>>, tensor<?x3xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tcp.symbolic_int "rows" {min_val = 1, max_val = 1000} : i64
  tcp.bind_symbolic_shape %x, [%rows], affine_map<()[s0] -> (s0, 3)> : tensor<?x3xcomplex<f32>>
  %factors = arith.constant dense<[[(0.0, 1.0), (2.0, 0.0), (3.0, -4.0)]]> : tensor<1x3xcomplex<f32>>
  %size = tensor.dim %x, %c0 : tensor<?x3xcomplex<f32>>
  %wide = tcp.broadcast %factors, %size {axes = [0]} : tensor<1x3xcomplex<f32>>, index -> tensor<?x3xcomplex<f32>>
  %turned = tcp.mul %x, %wide : tensor<?x3xcomplex<f32>>, tensor<?x3xcomplex<f32>> -> tensor<?x3xcomplex<f32>>
  %empty = tensor.empty(%size) : tensor<?x3xf32>
  %lengths = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%turned : tensor<?x3xcomplex<f32>>) outs(%empty : tensor<?x3xf32>) {
  ^bb0(%z: complex<f32>, %out: f32):
    %length = complex.abs %z : complex<f32>
    linalg.yield %length : f32
  } -> tensor<?x3xf32>
  return %turned, %lengths : tensor<?x3xcomplex<f32>>, tensor<?x3xf32>
}
