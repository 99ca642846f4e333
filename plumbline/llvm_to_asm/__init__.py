"""LLVM dialect -> LLVM IR -> assembly."""
