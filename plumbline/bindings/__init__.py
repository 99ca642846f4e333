"""What MLIR's Python bindings lack: pipelines as data, walks, the casts of the Torch dialect."""
