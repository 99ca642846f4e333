"""StableHLO.

The bindings have no module for it, and look for one at each op of it: this is what they find.
"""
