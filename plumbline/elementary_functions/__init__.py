"""exp, log, sin, tanh and their kin in plain arithmetic, for vectors as well as single numbers.

Nothing branches: both sides of every case are computed and one is selected, so that LLVM makes
loops over vectors of it. (Whether angles are small is asked for many at once, by
linalg_to_kernels/small_angles.py.) The polynomials are minimax fits (Remez), made with 50 digits;
their coefficients are then rounded one by one, each time fitting the others anew.

The error that each function states is a bound in units in the last place, for subnormal results
too; it holds whether the target fuses multiplications with additions or not. Of f32,
test/elementary_functions/every_float.py measures it over all floats.
"""
