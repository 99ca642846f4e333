"""The CPU lowering: linalg on tensors -> loops over buffers -> LLVM dialect."""
