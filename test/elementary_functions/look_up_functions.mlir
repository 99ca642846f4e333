// RUN: tcp-opt %s -look-up-functions | FileCheck %s

// A table of 32 numbers is two registers, for each coefficient; one of 16 is one.
// CHECK-LABEL: func.func @of_a_register(
// CHECK:         %[[PIECE:.*]] = arith.bitcast %{{.*}} : vector<16xf32> to vector<16xi32>
// CHECK-COUNT-7: llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.ps.512"(%{{.*}}, %[[PIECE]], %{{.*}})
// CHECK:         llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"
// CHECK:         llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"
// CHECK:         return
func.func @of_a_register(%x: vector<16xf32>) -> (vector<16xf32>, vector<16xf32>) {
  %0 = math.erf %x : vector<16xf32>
  %1 = math.exp %x : vector<16xf32>
  return %0, %1 : vector<16xf32>, vector<16xf32>
}

// Vectors may be several registers.
// CHECK-LABEL: func.func @of_registers(
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"
// CHECK:         vector.insert_strided_slice {{.*}}offsets = [16]{{.*}} : vector<16xf32> into vector<32xf32>
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"
// CHECK:         return
func.func @of_registers(%x: vector<32xf32>) -> vector<32xf32> {
  %0 = math.exp %x : vector<32xf32>
  return %0 : vector<32xf32>
}

// To add 1 to tanh(x) would cancel: both are one function.
// CHECK-LABEL: func.func @of_one_more(
// CHECK-NOT:     vpermi2var
// CHECK:         %[[SUM:.*]] = arith.divf
// CHECK-NEXT:    return %[[SUM]]
func.func @of_one_more(%x: vector<16xf32>) -> vector<16xf32> {
  %one = arith.constant dense<1.0> : vector<16xf32>
  %0 = math.tanh %x : vector<16xf32>
  %1 = arith.addf %one, %0 : vector<16xf32>
  return %1 : vector<16xf32>
}

// Other types stay, and what fills no register.
// CHECK-LABEL: func.func @others(
// CHECK-NEXT:    math.exp %{{.*}} : vector<16xf64>
// CHECK-NEXT:    math.exp %{{.*}} : vector<8xf32>
// CHECK-NEXT:    math.exp %{{.*}} : f32
// CHECK-NEXT:    math.sin %{{.*}} : vector<16xf32>
func.func @others(%x: vector<16xf64>, %y: vector<8xf32>, %z: f32, %v: vector<16xf32>) -> (vector<16xf64>, vector<8xf32>, f32, vector<16xf32>) {
  %0 = math.exp %x : vector<16xf64>
  %1 = math.exp %y : vector<8xf32>
  %2 = math.exp %z : f32
  %3 = math.sin %v : vector<16xf32>
  return %0, %1, %2, %3 : vector<16xf64>, vector<8xf32>, f32, vector<16xf32>
}
