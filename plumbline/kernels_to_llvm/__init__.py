"""What C calls: kernels on buffers -> LLVM dialect, checked entries, failures that are told."""
