"""StableHLO -> TCP."""
