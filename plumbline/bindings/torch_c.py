"""torch_c, the dialect of casts between the types of the Torch dialect and builtin ones.

The bindings have no module for it, and look for one at each op of it: this is what they find.
"""

TO_BUILTIN_TENSOR = "torch_c.to_builtin_tensor"
FROM_BUILTIN_TENSOR = "torch_c.from_builtin_tensor"
FROM_I1 = "torch_c.from_i1"
TO_I1 = "torch_c.to_i1"
TO_I64 = "torch_c.to_i64"
TO_F64 = "torch_c.to_f64"
