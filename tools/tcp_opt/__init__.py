"""tcp-opt: runs passes on modules with TCP, with the habits of mlir-opt."""
