"""TCP -> arith: constants."""
