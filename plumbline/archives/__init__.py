"""Files that appear whole or not at all: references, weights, and texts."""
