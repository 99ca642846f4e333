"""The walk through all stages of a program, in tools/aot/README.md."""
