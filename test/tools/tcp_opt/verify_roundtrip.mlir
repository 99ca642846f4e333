// What is read survives being written and read again, in each form; see round_trip_test.py for what
// does not.
// RUN: tcp-opt %s --verify-roundtrip --allow-unregistered-dialect | FileCheck %s
// RUN: tcp-opt %s --verify-roundtrip --allow-unregistered-dialect -cse --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @f(
// CHECK:         tcp.cast
// CHECK:         tcp.group
#map = affine_map<()[s0] -> (s0)>
func.func @f(%x: tensor<?xi8> loc("x")) -> tensor<?xf32> {
  %s = tcp.symbolic_int "s0" {min_val = 2, max_val = 9} : i64
  tcp.bind_symbolic_shape %x, [%s], affine_map<()[s0] -> (s0)> : tensor<?xi8>
  %0 = tcp.cast %x {in_int_signedness = #tcp<signedness Signed>} : tensor<?xi8> -> tensor<?xf32> loc(callsite("a.py":1:2 at "b.py":3:4))
  %1 = tcp.group {
    %2 = tcp.tanh %0 : tensor<?xf32> -> tensor<?xf32> loc(fused<"layer.0">["c.py":5:6, "there"("d.py":7:8)])
    tcp.yield %2 : tensor<?xf32>
  } : tensor<?xf32>
  "unknown.op"(%1) {map = #map, value = dense_resource<blob> : tensor<2xi8>} : (tensor<?xf32>) -> ()
  return %1 : tensor<?xf32>
}

{-#
  dialect_resources: {
    builtin: {
      blob: "0x010000000102"
    }
  }
#-}
