"""Loader function -> Torch dialect and reference tensors. The only room that imports torch."""
