// RUN: tcp-opt %s -convert-stablehlo-to-tcp | FileCheck %s

// CHECK-LABEL: func.func @while(
// CHECK:         tcp.const
// CHECK:         scf.while
// CHECK:         tcp.compare {{.*}} {int_signedness = #tcp<signedness Signed>, predicate = #tcp<predicate lt>}
// CHECK:         tensor.extract
// CHECK:         scf.condition
// CHECK:         tcp.const
// CHECK:         tcp.add
// CHECK:         tcp.add
// CHECK:         tcp.add
// CHECK:         scf.yield
// CHECK:         return
func.func @while(%x: tensor<?xf32>, %u: tensor<ui8>, %c: tensor<i32>) -> (tensor<?xf32>, tensor<ui8>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:3 = stablehlo.while(%i = %zero, %v = %x, %w = %u) : tensor<i32>, tensor<?xf32>, tensor<ui8>
    cond {
      %1 = stablehlo.compare LT, %i, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %2 = stablehlo.add %i, %one : tensor<i32>
      %3 = stablehlo.add %v, %x : tensor<?xf32>
      %4 = stablehlo.add %w, %u : tensor<ui8>
      stablehlo.return %2, %3, %4 : tensor<i32>, tensor<?xf32>, tensor<ui8>
    }
  return %0#1, %0#2 : tensor<?xf32>, tensor<ui8>
}

// CHECK-LABEL: func.func @if(
// CHECK:         tensor.extract
// CHECK:         scf.if
// CHECK:         tcp.mul
// CHECK:         scf.yield
// CHECK:         scf.yield
// CHECK:         return
func.func @if(%x: tensor<?xui8>, %c: tensor<i1>) -> (tensor<?xui8>) {
  %0 = "stablehlo.if"(%c) ({
      %1 = stablehlo.multiply %x, %x : tensor<?xui8>
      stablehlo.return %1 : tensor<?xui8>
    }, {
      stablehlo.return %x : tensor<?xui8>
    }) : (tensor<i1>) -> tensor<?xui8>
  return %0 : tensor<?xui8>
}

// CHECK-LABEL: func.func @case(
// CHECK:         tensor.extract
// CHECK:         arith.index_cast
// CHECK:         scf.index_switch
// CHECK:         scf.yield
// CHECK:         tcp.mul
// CHECK:         scf.yield
// CHECK:         tcp.neg
// CHECK:         scf.yield
// CHECK:         return
func.func @case(%x: tensor<?xf32>, %c: tensor<i32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0:2 = "stablehlo.case"(%c) ({
      stablehlo.return %x, %x : tensor<?xf32>, tensor<?xf32>
    }, {
      %1 = stablehlo.multiply %x, %x : tensor<?xf32>
      stablehlo.return %1, %x : tensor<?xf32>, tensor<?xf32>
    }, {
      %1 = stablehlo.negate %x : tensor<?xf32>
      stablehlo.return %x, %1 : tensor<?xf32>, tensor<?xf32>
    }) : (tensor<i32>) -> (tensor<?xf32>, tensor<?xf32>)
  return %0#0, %0#1 : tensor<?xf32>, tensor<?xf32>
}

func.func private @twice(%x: tensor<?xui8>) -> tensor<?xui8> {
  %0 = stablehlo.add %x, %x : tensor<?xui8>
  return %0 : tensor<?xui8>
}

// CHECK-LABEL: func.func @composite(
// CHECK:         call
// CHECK:         return
func.func @composite(%x: tensor<?xui8>) -> (tensor<?xui8>) {
  %0 = stablehlo.composite "library.twice" %x {decomposition = @twice} : (tensor<?xui8>) -> tensor<?xui8>
  %1 = stablehlo.optimization_barrier %0 : tensor<?xui8>
  return %1 : tensor<?xui8>
}

// CHECK-LABEL: func.func @shape_assertion(
// CHECK:         tensor.extract
// CHECK:         cf.assert
// CHECK:         return
func.func @shape_assertion(%x: tensor<i1>, %n: tensor<i32>) -> (tensor<i1>) {
  stablehlo.custom_call @shape_assertion(%x, %n) {error_message = "Expected value >= 1 for dimension variable 'b' (= {0}). Using the specification b", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
  return %x : tensor<i1>
}
