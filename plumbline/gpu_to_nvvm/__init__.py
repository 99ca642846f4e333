"""Kernels of a GPU -> NVVM, and what launches them -> LLVM dialect and calls of the runtime."""
