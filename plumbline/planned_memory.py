"""How an arena, which has the temporaries of a function, says how they were planned.

The attribute of its `memref.alloc` is {peak = 72, sum = 96, lower_bound = 64}: the bytes of the
arena, those of all temporaries, and those that live at once at least.
"""

PLAN = "plumbline.memory_plan"
