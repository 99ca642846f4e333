// RUN: tcp-opt %s -convert-stablehlo-to-tcp -stablehlo-verify-tcp-backend-contract -split-input-file -verify-diagnostics

// -----

func.func @after_all(%t: !stablehlo.token) -> (!stablehlo.token) {
  // expected-error @below {{'stablehlo.after_all' op cannot be lowered to TCP: tokens, which order effects that TCP has none of; export a program without effects}}
  %0 = stablehlo.after_all %t : !stablehlo.token
  return %0 : !stablehlo.token
}

// -----

func.func @all_gather(%x: tensor<2xf32>) -> (tensor<4xf32>) {
  // expected-error @below {{'stablehlo.all_gather' op cannot be lowered to TCP: communication between devices; export the program for one}}
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @all_reduce(%x: tensor<2xf32>) -> (tensor<2xf32>) {
  // expected-error @below {{'stablehlo.all_reduce' op cannot be lowered to TCP: communication between devices; export the program for one}}
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @all_to_all(%x: tensor<2xf32>) -> (tensor<2xf32>) {
  // expected-error @below {{'stablehlo.all_to_all' op cannot be lowered to TCP: communication between devices; export the program for one}}
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @batch_norm_grad(%x: tensor<2x3xf32>, %s: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) {
  // expected-error @below {{'stablehlo.batch_norm_grad' op cannot be lowered to TCP: the gradient of a batch norm; export it as the ops it is made of}}
  %0:3 = "stablehlo.batch_norm_grad"(%x, %s, %s, %s, %x) {epsilon = 0.001 : f32, feature_index = 1 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return %0#0, %0#1, %0#2 : tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>
}

// -----

func.func @collective_broadcast(%x: tensor<2xf32>) -> (tensor<2xf32>) {
  // expected-error @below {{'stablehlo.collective_broadcast' op cannot be lowered to TCP: communication between devices; export the program for one}}
  %0 = "stablehlo.collective_broadcast"(%x) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @collective_permute(%x: tensor<2xf32>) -> (tensor<2xf32>) {
  // expected-error @below {{'stablehlo.collective_permute' op cannot be lowered to TCP: communication between devices; export the program for one}}
  %0 = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @create_token() -> (!stablehlo.token) {
  // expected-error @below {{'stablehlo.create_token' op cannot be lowered to TCP: tokens, which order effects that TCP has none of; export a program without effects}}
  %0 = stablehlo.create_token : !stablehlo.token
  return %0 : !stablehlo.token
}

// -----

func.func @dynamic_conv(%x: tensor<1x2x5xf32>, %w: tensor<3x2x3xf32>, %p: tensor<1x2xi32>) -> (tensor<1x3x?xf32>) {
  // expected-error @below {{'stablehlo.dynamic_conv' op cannot be lowered to TCP: padding that is computed; export the convolution with a known one}}
  %0 = "stablehlo.dynamic_conv"(%x, %w, %p) {dimension_numbers = #stablehlo.conv<[b, f, 0]x[o, i, 0]->[b, f, 0]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x2x5xf32>, tensor<3x2x3xf32>, tensor<1x2xi32>) -> tensor<1x3x?xf32>
  return %0 : tensor<1x3x?xf32>
}

// -----

func.func @fft(%x: tensor<?xcomplex<f32>>) -> (tensor<?xcomplex<f32>>) {
  // expected-error @below {{'stablehlo.fft' op cannot be lowered to TCP: a Fourier transform along a dimension whose size is not known; export a known one}}
  %0 = stablehlo.fft %x, type = FFT, length = [2] : (tensor<?xcomplex<f32>>) -> tensor<?xcomplex<f32>>
  return %0 : tensor<?xcomplex<f32>>
}

// -----

func.func @get_tuple_element(%x: tuple<tensor<2xf32>>) -> (tensor<2xf32>) {
  // expected-error @below {{'stablehlo.get_tuple_element' op cannot be lowered to TCP: tuples; export values one by one}}
  %0 = stablehlo.get_tuple_element %x[0] : (tuple<tensor<2xf32>>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @infeed(%t: !stablehlo.token) -> (tensor<2xf32>, !stablehlo.token) {
  // expected-error @below {{'stablehlo.infeed' op cannot be lowered to TCP: communication with a host; pass what it gives and takes as arguments and results}}
  %0:2 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  return %0#0, %0#1 : tensor<2xf32>, !stablehlo.token
}

// -----

func.func @outfeed(%x: tensor<2xf32>, %t: !stablehlo.token) -> (!stablehlo.token) {
  // expected-error @below {{'stablehlo.outfeed' op cannot be lowered to TCP: communication with a host; pass what it gives and takes as arguments and results}}
  %0 = "stablehlo.outfeed"(%x, %t) : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  return %0 : !stablehlo.token
}

// -----

func.func @partition_id() -> (tensor<ui32>) {
  // expected-error @below {{'stablehlo.partition_id' op cannot be lowered to TCP: communication between devices; export the program for one}}
  %0 = stablehlo.partition_id : tensor<ui32>
  return %0 : tensor<ui32>
}

// -----

func.func @recv(%t: !stablehlo.token) -> (tensor<2xf32>, !stablehlo.token) {
  // expected-error @below {{'stablehlo.recv' op cannot be lowered to TCP: communication between devices; export the program for one}}
  %0:2 = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true} : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  return %0#0, %0#1 : tensor<2xf32>, !stablehlo.token
}

// -----

func.func @reduce_scatter(%x: tensor<4xf32>) -> (tensor<2xf32>) {
  // expected-error @below {{'stablehlo.reduce_scatter' op cannot be lowered to TCP: communication between devices; export the program for one}}
  %0 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @replica_id() -> (tensor<ui32>) {
  // expected-error @below {{'stablehlo.replica_id' op cannot be lowered to TCP: communication between devices; export the program for one}}
  %0 = stablehlo.replica_id : tensor<ui32>
  return %0 : tensor<ui32>
}

// -----

func.func @rng(%a: tensor<f32>, %s: tensor<1xi64>) -> (tensor<2xf32>) {
  // expected-error @below {{'stablehlo.rng' op cannot be lowered to TCP: random numbers; draw them outside and pass them as an argument}}
  %0 = stablehlo.rng %a, %a, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @rng_bit_generator(%s: tensor<2xui64>) -> (tensor<2xui64>, tensor<2xui64>) {
  // expected-error @below {{'stablehlo.rng_bit_generator' op cannot be lowered to TCP: random numbers; draw them outside and pass them as an argument}}
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2xui64>)
  return %0, %1 : tensor<2xui64>, tensor<2xui64>
}

// -----

func.func @send(%x: tensor<2xf32>, %t: !stablehlo.token) -> (!stablehlo.token) {
  // expected-error @below {{'stablehlo.send' op cannot be lowered to TCP: communication between devices; export the program for one}}
  %0 = "stablehlo.send"(%x, %t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true} : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  return %0 : !stablehlo.token
}

// -----

func.func @set_dimension_size(%x: tensor<2xf32>, %n: tensor<i32>) -> (tensor<?xf32, #stablehlo.bounds<2>>) {
  // expected-error @below {{'stablehlo.set_dimension_size' op cannot be lowered to TCP: sizes below a bound; export them as dynamic ones, or keep as many elements as there are and choose among them}}
  %0 = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<2xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<2>>
  return %0 : tensor<?xf32, #stablehlo.bounds<2>>
}

// -----

func.func @tuple(%x: tensor<2xf32>) -> (tuple<tensor<2xf32>>) {
  // expected-error @below {{'stablehlo.tuple' op cannot be lowered to TCP: tuples; export values one by one}}
  %0 = stablehlo.tuple %x : tuple<tensor<2xf32>>
  return %0 : tuple<tensor<2xf32>>
}

// -----

func.func @uniform_dequantize(%x: tensor<2x!quant.uniform<i8:f32, 0.5>>) -> (tensor<2xf32>) {
  // expected-error @below {{'stablehlo.uniform_dequantize' op cannot be lowered to TCP: quantized numbers; export them dequantized}}
  %0 = stablehlo.uniform_dequantize %x : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @uniform_quantize(%x: tensor<2xf32>) -> (tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>) {
  // expected-error @below {{'stablehlo.uniform_quantize' op cannot be lowered to TCP: quantized numbers; export them dequantized}}
  %0 = stablehlo.uniform_quantize %x : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return %0 : tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>
}
