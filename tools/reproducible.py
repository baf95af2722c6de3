"""Environment variables under which notebooks give the same outputs at every run."""

import os
from collections.abc import Mapping

__all__ = ["ENVIRONMENT", "reproducible_environment"]

ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "TQDM_DISABLE": "1",
    # The kernel of the environment that runs us, not one of the same name in the home directory.
    "JUPYTER_PREFER_ENV_PATH": "1",
    # Else every kernel greets with a warning about frozen modules and the debugger.
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
}


def reproducible_environment(base: Mapping[str, str] = os.environ) -> dict[str, str]:
    """``base`` with the variables above added; what the user has set stays."""
    return {**ENVIRONMENT, **base}
