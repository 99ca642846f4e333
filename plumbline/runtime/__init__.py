"""What is linked to generated code."""
