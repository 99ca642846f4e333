"""The command `plumbline`: one module for each of its commands."""
