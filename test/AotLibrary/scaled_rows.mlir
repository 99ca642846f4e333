// A product of two tensors of the same shape, and what is known of it.
func.func @scaled_rows(%x: tensor<?x?xf32>, %scale: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %rows = tcp.symbolic_int "rows" {min_val = 1, max_val = 1000} : i64
  %columns = tcp.symbolic_int "columns" {min_val = 1, max_val = 9223372036854775807} : i64
  tcp.bind_symbolic_shape %x, [%rows, %columns], affine_map<()[s0, s1] -> (s0, s1)> : tensor<?x?xf32>
  tcp.bind_symbolic_shape %scale, [%rows, %columns], affine_map<()[s0, s1] -> (s0, s1)> : tensor<?x?xf32>
  %scaled = tcp.mul %x, %scale : tensor<?x?xf32>, tensor<?x?xf32> -> tensor<?x?xf32>
  return %scaled : tensor<?x?xf32>
}
