"""How programs of JAX are laid out for devices: of one, there is nothing to lay out.

The dialect `sdy` (Shardy) says so, whose ops only its own parser reads. JAX writes some of them for
one device too, as for keys of `jax.random.key` that are arguments.
"""

import re

_MESH = re.compile(r"^ *sdy\.mesh @.*$", re.MULTILINE)
"""A line that says which devices there are."""

_CONSTRAINT = re.compile(r"= sdy\.sharding_constraint (%[\w#]+) <.*?> : (tensor<)")
"""What says which of them a tensor lies on; it is the same one."""


def without_layouts(text: str) -> str:
    """The text of a module of StableHLO without them; all else is on the lines where it was."""
    if "sdy." not in text:
        return text
    return _CONSTRAINT.sub(r"= stablehlo.optimization_barrier \1 : \2", _MESH.sub("", text))
