"""Models of TensorFlow Lite as PyTorch programs, which the chain takes as it takes all others."""
