"""TCP's custom assembly: read into and written from MLIR's generic form, text to text."""
