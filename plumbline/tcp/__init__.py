"""TCP, the dialect of tensor compute primitives: ops, verifiers and assembly."""
