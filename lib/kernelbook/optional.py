"""The one way in which the library imports packages that not every installation has."""

from importlib import import_module
from typing import Any

__all__ = ["import_optional"]


def import_optional(module: str, *, extra: str, purpose: str) -> Any:
    """Import a module of an extra, or say what needs it and how to install it.

    Parameters
    ----------
    module : str
        Full name of the module, such as ``'matplotlib.pyplot'``.
    extra : str
        The extra of this package that installs it.
    purpose : str
        What needs it, the subject of the message: ``'A figure'``.

    Returns
    -------
    module
        The module; typed as Any because most such packages have no types.

    Raises
    ------
    ImportError
        If the package is not installed; the message names the extra.

    Examples
    --------
    >>> import_optional("no_such_package.part", extra="plots", purpose="A figure")
    Traceback (most recent call last):
    ...
    ImportError: A figure needs no_such_package: pip install "kernelbook[plots]".
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.split(".")[0]
        if error.name is not None and error.name.split(".")[0] != package:
            raise
        raise ImportError(
            f'{purpose} needs {package}: pip install "kernelbook[{extra}]".'
        ) from error
