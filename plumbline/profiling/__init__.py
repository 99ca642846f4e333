"""Finds what a compiled program spends its time on."""
