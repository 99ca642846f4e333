"""Tests that run commands on a file and hold their output against the file's comments."""
