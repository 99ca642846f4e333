// RUN: tcp-opt %s | FileCheck %s

// CHECK:      module {
// CHECK-NEXT:   func.func @f()
// CHECK:        func.func @g()
// CHECK:      }
func.func @f() {
  return
}
func.func @g() {
  return
}
