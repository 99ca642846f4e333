"""Programs of StableHLO from where they are: Python objects of JAX's, text, bytecode, files."""
