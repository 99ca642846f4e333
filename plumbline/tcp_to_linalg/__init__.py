"""TCP -> linalg on tensors."""
