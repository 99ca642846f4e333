// RUN: tcp-opt %s -transform-interpreter -verify-diagnostics

// REMARK:        remark.mlir:{{.*}}: remark: an operation
// NO-REMARK-NOT: remark:
// NO-REMARK:     tcp.tanh
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["tcp.tanh"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.debug.emit_remark_at %0, "an operation" : !transform.any_op
    transform.yield
  }
  func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
    // expected-remark @below {{an operation}}
    %0 = tcp.tanh %x : tensor<2xf32> -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
