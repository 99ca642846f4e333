"""StableHLO to TCP: its texts, and its numbers against StableHLO's own interpreter."""
