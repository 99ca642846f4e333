"""Passes from TCP to TCP."""
