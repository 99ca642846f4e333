"""Plumbline as a backend of `torch.compile`."""
