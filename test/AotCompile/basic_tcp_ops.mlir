// Four functions written in TCP by hand; each becomes a C function (basic_tcp_ops_test.cpp).

// Add, then multiply, on two dynamic dimensions.
func.func @add_mul(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %sum = tcp.add %a, %b : tensor<?x?xf32>, tensor<?x?xf32> -> tensor<?x?xf32>
  %product = tcp.mul %sum, %c : tensor<?x?xf32>, tensor<?x?xf32> -> tensor<?x?xf32>
  return %product : tensor<?x?xf32>
}

// The same, with the sum returned as well.
func.func @add_mul_both(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %sum = tcp.add %a, %b : tensor<?x?xf32>, tensor<?x?xf32> -> tensor<?x?xf32>
  %product = tcp.mul %sum, %c : tensor<?x?xf32>, tensor<?x?xf32> -> tensor<?x?xf32>
  return %sum, %product : tensor<?x?xf32>, tensor<?x?xf32>
}

// A tensor of rank 0, broadcast and added to one of rank 1.
func.func @broadcast_add(%scalar: tensor<f32>, %vector: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %size = tensor.dim %vector, %c0 : tensor<?xf32>
  %unit = tensor.expand_shape %scalar [] output_shape [1] : tensor<f32> into tensor<1xf32>
  %wide = tcp.broadcast %unit, %size {axes = [0]} : tensor<1xf32>, index -> tensor<?xf32>
  %sum = tcp.add %wide, %vector : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  return %sum : tensor<?xf32>
}

// Rows of a matrix, by their numbers.
func.func @take(%matrix: tensor<?x3xf32>, %rows: tensor<?x1xi64>) -> tensor<?x3xf32> {
  %taken = tcp.gather_nd %matrix, %rows : tensor<?x3xf32>, tensor<?x1xi64> -> tensor<?x3xf32>
  return %taken : tensor<?x3xf32>
}
