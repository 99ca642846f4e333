// A pass leaves what does not verify: an attribute that only a cast of integers has.
// RUN: not tcp-opt %s -transform-interpreter 2>&1 | FileCheck %s --check-prefix=VERIFIED
// RUN: not tcp-opt %s -transform-interpreter --verify-each=1 2>&1 | FileCheck %s --check-prefix=VERIFIED
// RUN: tcp-opt %s -transform-interpreter --verify-each=0 2>&1 | FileCheck %s --check-prefix=UNVERIFIED
// RUN: tcp-opt %s -transform-interpreter --verify-each=false 2>&1 | FileCheck %s --check-prefix=UNVERIFIED

// VERIFIED:   error: 'tcp.cast' op attribute 'in_int_signedness' failed to satisfy constraint

// UNVERIFIED: tcp.cast %arg0 {in_int_signedness}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %cast = transform.structured.match ops{["tcp.cast"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.annotate %cast "in_int_signedness" : !transform.any_op
    transform.yield
  }
  func.func @f(%x: tensor<2xf32>) -> tensor<2xf64> {
    %0 = tcp.cast %x : tensor<2xf32> -> tensor<2xf64>
    return %0 : tensor<2xf64>
  }
}
