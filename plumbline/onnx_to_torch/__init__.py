"""Models of ONNX as PyTorch programs, which the chain then takes as it takes all others."""
