// RUN: tcp-opt %s -tcp-to-linalg-pipeline -verify-diagnostics

func.func @quantized(%x: tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.5>> {
  // expected-error @below {{'tcp.add' op has no lowering to linalg: quantized numbers; dequantize them before it, and quantize what comes of it}}
  %0 = tcp.add %x, %x : tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<2x!quant.uniform<i8:f32, 0.5>> -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return %0 : tensor<2x!quant.uniform<i8:f32, 0.5>>
}
