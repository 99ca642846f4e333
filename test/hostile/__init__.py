"""Mutated files into every stage: each must end in a result or in one message."""
