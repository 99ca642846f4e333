"""Linalg on tensors -> kernels of a GPU, the launches of them, and the plan of device memory."""
