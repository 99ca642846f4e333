"""What programs call in place of Linux's C library, in C."""
