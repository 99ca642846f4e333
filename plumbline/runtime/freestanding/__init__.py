"""What programs for WebAssembly and microcontrollers call in place of the C library, in C."""
