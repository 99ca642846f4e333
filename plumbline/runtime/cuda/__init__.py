"""The runtime of programs for a GPU, in C: how a process that has no compiled library gets it."""
