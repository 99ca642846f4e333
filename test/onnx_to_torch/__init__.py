"""Models of ONNX as PyTorch programs: their numbers against ONNX's own."""
