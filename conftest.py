"""One BLAS thread, a fixed hash seed, silent progress bars: set before numpy or a kernel starts."""

import os

from tools.reproducible import reproducible_environment

os.environ.update(reproducible_environment())
