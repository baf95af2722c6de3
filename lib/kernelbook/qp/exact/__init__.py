"""The exact way through the quadratic program, for many variables; needs numba."""
