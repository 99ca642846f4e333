"""Tests in Python that share a process."""
