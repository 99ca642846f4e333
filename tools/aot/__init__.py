"""The Bazel face of Plumbline: stage programs, and what loaders import."""
