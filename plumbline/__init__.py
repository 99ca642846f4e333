"""Plumbline: lowers a PyTorch program to machine code, stage by stage."""
