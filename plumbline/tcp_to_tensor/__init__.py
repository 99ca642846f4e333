"""TCP -> tensor: data movement that the tensor dialect has ops for."""
