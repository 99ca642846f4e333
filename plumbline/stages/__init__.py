"""What stages have in common that are run by themselves."""
