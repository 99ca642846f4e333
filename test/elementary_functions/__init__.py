"""Tests of the elementary functions: how exact they are, and that they call no library."""
