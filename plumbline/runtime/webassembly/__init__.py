"""What programs for WebAssembly call in place of the C library, in C."""
