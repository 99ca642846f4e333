// RUN: tcp-opt %s -cse -tcp-canonicalize --mlir-timing -o %t 2>&1 | FileCheck %s --check-prefix=TREE
// RUN: tcp-opt %s -cse -tcp-canonicalize --mlir-timing --mlir-timing-display=list -o %t 2>&1 | FileCheck %s --check-prefix=LIST
// RUN: tcp-opt %s --pass-pipeline='builtin.module(func.func(cse,tcp-canonicalize),canonicalize,func.func(cse))' --mlir-timing -o %t 2>&1 | FileCheck %s --check-prefix=NESTED
// RUN: tcp-opt %s --split-input-file -cse --mlir-timing -o %t 2>&1 | FileCheck %s --check-prefix=SPLIT
// RUN: not tcp-opt %s -verify-no-tcp-ops -cse --mlir-timing -o %t 2>&1 | FileCheck %s --check-prefix=FAILURE

// TREE:         ... Execution time report ...
// TREE:         Total Execution Time: {{[0-9]+\.[0-9]+}} seconds
// TREE:         ----Wall Time----  ----Name----
// TREE-NEXT:    {{^ +[0-9.]+ \( *[0-9.]+%\)  }}Parser
// TREE-NEXT:    {{\)  }}CSEPass
// TREE-NEXT:    {{\)    }}(A) DominanceInfo
// TREE-NEXT:    {{\)  }}TcpCanonicalize
// TREE-NEXT:    {{\)  }}Output
// TREE-NEXT:    {{\)  }}Rest
// TREE-NEXT:    (100.0%)  Total

// The longest first: all of it.
// LIST:         ----Name----
// LIST-NEXT:    (100.0%)  root
// LIST:         {{\)  }}Rest
// LIST-NEXT:    (100.0%)  Total

// Passes written in Python and MLIR's own alike stand below what they are nested in.
// NESTED:       {{\)  }}Parser
// NESTED-NEXT:  {{\)  }}'func.func' Pipeline
// NESTED-NEXT:  {{\)    }}CSEPass
// NESTED-NEXT:  {{\)      }}(A) DominanceInfo
// NESTED-NEXT:  {{\)    }}TcpCanonicalize
// NESTED-NEXT:  {{\)  }}CanonicalizerPass
// NESTED-NEXT:  {{\)  }}'func.func' Pipeline
// NESTED-NEXT:  {{\)    }}CSEPass

// SPLIT:        Parser
// SPLIT-NEXT:   CSEPass
// SPLIT-NOT:    CSEPass
// SPLIT:        Total

// FAILURE:      error: 'tcp.tanh' op has no lowering
// FAILURE:      VerifyNoTcpOps
// FAILURE:      Total
func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = tcp.tanh %x : tensor<?xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @g() {
  return
}
