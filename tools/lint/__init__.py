"""Linters and formatters over the whole repository."""
