// Bytecode is written where asked for, and read wherever it stands.
// RUN: tcp-opt %s --emit-bytecode -o %t && tcp-opt %t | FileCheck %s
// RUN: tcp-opt %s --emit-bytecode | tcp-opt - -cse | FileCheck %s
// RUN: tcp-opt %s --emit-bytecode --emit-bytecode-version=1 | tcp-opt --mlir-print-debuginfo | FileCheck %s --check-prefix=LOCATION
// RUN: not tcp-opt %s --emit-bytecode --emit-bytecode-version=77 -o %t.none 2>&1 | FileCheck %s --check-prefix=VERSION

// CHECK-LABEL: func.func @f(
// CHECK:         tcp.cast %arg0 {in_int_signedness = #tcp<signedness Signed>} : tensor<?xi8> -> tensor<?xf32>
// CHECK:         tcp.group
// CHECK-NEXT:      tcp.tanh

// LOCATION:      loc("{{.*}}bytecode.mlir":18:8)

// VERSION:       bytecode.mlir:{{.*}} error: unsupported version requested 77, must be in range [0, 6]
// VERSION-NOT:   Traceback

func.func @f(%x: tensor<?xi8>) -> tensor<?xf32> {
  %0 = tcp.cast %x {in_int_signedness = #tcp<signedness Signed>} : tensor<?xi8> -> tensor<?xf32>
  %1 = tcp.group {
    %2 = tcp.tanh %0 : tensor<?xf32> -> tensor<?xf32>
    tcp.yield %2 : tensor<?xf32>
  } : tensor<?xf32>
  return %1 : tensor<?xf32>
}
