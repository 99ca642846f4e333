// How IR is printed.
// RUN: tcp-opt %s --mlir-elide-elementsattrs-if-larger=2 | FileCheck %s --check-prefix=ELEMENTS
// RUN: tcp-opt %s --mlir-elide-resource-strings-if-larger=8 | FileCheck %s --check-prefix=RESOURCES
// RUN: tcp-opt %s --mlir-print-skip-regions | FileCheck %s --check-prefix=REGIONS
// RUN: tcp-opt %s --mlir-print-debuginfo | FileCheck %s --check-prefix=LOCATION
// RUN: tcp-opt %s --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=LOCAL
// RUN: tcp-opt %s --mlir-pretty-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=PRETTY
// RUN: tcp-opt %s --mlir-use-nameloc-as-prefix | FileCheck %s --check-prefix=NAMES
// RUN: tcp-opt %s --pass-pipeline='builtin.module(func.func(tcp-canonicalize))' --mlir-print-ir-after-all --mlir-print-ir-module-scope -o %t 2>&1 | FileCheck %s --check-prefix=MODULE
// RUN: tcp-opt %s --split-input-file --output-split-marker="// next" | FileCheck %s --check-prefix=MARKER
// RUN: tcp-opt %s --mlir-disable-threading | FileCheck %s --check-prefix=MARKER
// RUN: tcp-opt --version | FileCheck %s --check-prefix=VERSION

// ELEMENTS:      tcp.const {value = dense_resource<__elided__> : tensor<3xf32>}

// RESOURCES-NOT: blob: "0x

// REGIONS:       module {...}

// LOCATION:      tcp.tanh {{.*}} loc(#loc{{[0-9]+}})
// LOCATION:      #loc{{[0-9]+}} = loc("activation"(#loc{{[0-9]+}}))

// LOCAL-NOT:     #loc
// LOCAL:         tcp.tanh {{.*}} loc("activation"("model.py":7:0))

// PRETTY:        tcp.tanh {{.*}} "activation"(model.py:7:0)

// NAMES:         %activation = tcp.tanh

// MODULE:        // -----// IR Dump After TcpCanonicalize
// MODULE-NEXT:   module {
// MODULE:          tcp.tanh

// MARKER:        func.func @f(
// MARKER:        func.func @g(

// VERSION:       LLVM version {{[0-9]+}}
func.func @f(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<2xf64>) {
  %0 = tcp.tanh %x : tensor<3xf32> -> tensor<3xf32> loc("activation"("model.py":7:0))
  %1 = tcp.const {value = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>} : tensor<3xf32>
  %2 = tcp.const {value = dense_resource<blob> : tensor<2xf64>} : tensor<2xf64>
  return %0, %1, %2 : tensor<3xf32>, tensor<3xf32>, tensor<2xf64>
}
func.func @g() {
  return
}

{-#
  dialect_resources: {
    builtin: {
      blob: "0x0800000000000000000000400000000000000840"
    }
  }
#-}
