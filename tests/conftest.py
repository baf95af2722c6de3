"""Settings of the test suite that are not options of pytest."""

from hypothesis import settings

# The same examples at every run and on every machine, and no files left behind.
settings.register_profile("kernelbook", derandomize=True, database=None, deadline=None)
settings.load_profile("kernelbook")
