"""The walk through all stages of a program, on the pages that show them."""
