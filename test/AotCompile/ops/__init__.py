"""Every op of TCP, compiled and run, against PyTorch."""
