// RUN: tcp-opt %s -separate-called-functions -split-input-file -verify-diagnostics | FileCheck %s

// What is called is private; what callers from C see calls it, too.

// CHECK-LABEL: func.func @called(
// CHECK-SAME:      %[[X:.*]]: tensor<?xf32> {test.about = "a size"}) -> tensor<?xf32> {
// CHECK-NEXT:    %[[Y:.*]] = call @called_called(%[[X]])
// CHECK-NEXT:    return %[[Y]]
// CHECK-LABEL: func.func private @called_called(
// CHECK-SAME:      %{{.*}}: tensor<?xf32>) -> tensor<?xf32> {
// CHECK:         math.absf
func.func @called(%x: tensor<?xf32> {test.about = "a size"}) -> tensor<?xf32> {
  %0 = math.absf %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @calls(
// CHECK:         call @called_called(
// CHECK:         call @private(
func.func @calls(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = func.call @called(%x) : (tensor<?xf32>) -> tensor<?xf32>
  %1 = func.call @private(%0) : (tensor<?xf32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// CHECK-LABEL: func.func private @private(
func.func private @private(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

// -----

func.func @one(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{func.func @one calls itself, by way of @other: a compiled function cannot be recursive}}
  %0 = func.call @other(%x) : (tensor<?xf32>) -> tensor<?xf32>
  %1 = func.call @itself(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

func.func private @other(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{func.func @other calls itself, by way of @one: a compiled function cannot be recursive}}
  %0 = func.call @one(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

func.func @itself(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{func.func @itself calls itself: a compiled function cannot be recursive}}
  %0 = func.call @itself(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func private @declared(%x: tensor<?xf32>) -> tensor<?xf32>

func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{func.func @f calls @declared, which has no body: define it in this file}}
  %0 = func.call @declared(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
