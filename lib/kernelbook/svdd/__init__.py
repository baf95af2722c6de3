"""Support vector data description: spheres in feature space, with and without known outliers."""

from kernelbook.svdd.description import ROUNDING, SVDD, svdd_dual
from kernelbook.svdd.sphere import Centre, SphereDetector, full_norm, target_signs

__all__ = ["ROUNDING", "SVDD", "Centre", "SphereDetector", "full_norm", "svdd_dual", "target_signs"]
