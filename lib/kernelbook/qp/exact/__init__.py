"""The exact solver of the quadratic program: compiled steps on pairs, then working sets."""
