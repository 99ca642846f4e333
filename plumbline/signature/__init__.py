"""What a caller needs to know of a program: names, element types, shapes, and weights."""
