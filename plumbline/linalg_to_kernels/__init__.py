"""What is computed together, and how: linalg on tensors -> kernels on buffers, and their calls."""
