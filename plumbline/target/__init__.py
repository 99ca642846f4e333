"""What code is made for, and what a compilation can be told."""
