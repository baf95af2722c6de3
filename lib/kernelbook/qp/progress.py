"""Bars that show how far a long solution has come."""

from math import log10
from typing import Any

from kernelbook.optional import import_optional

__all__ = ["Progress"]


class Progress:
    """Digits of the violation that have been gained, with the gap and the variables in play.

    Raises
    ------
    ImportError
        If tqdm is not installed; the message names the extra.

    Examples
    --------
    >>> Progress().close()
    """

    def __init__(self) -> None:
        tqdm = import_optional("tqdm.auto", extra="study", purpose="verbose=True")
        self._bar: Any = tqdm.tqdm(bar_format="{desc} {n:.1f} digits {elapsed}{postfix}")
        self._first, self._gap = 0.0, ""

    def tell(self, phase: str, *, violation: float, active: int, gap: float | None = None) -> None:
        """Show where a solver is.

        Parameters
        ----------
        phase : str
            What it does.
        violation : float
            Violation of the optimality conditions.
        active : int
            Number of variables in play.
        gap : float, default=None
            Relative duality gap. If None, the one before is shown.
        """
        if not violation > 0:
            return
        self._first = self._first or violation
        if gap is not None:
            self._gap = f"gap {gap:.1e}, "
        self._bar.set_description_str(f"{phase:9}", refresh=False)
        self._bar.n = max(self._bar.n, log10(self._first / violation))
        self._bar.set_postfix_str(f"{self._gap}{active} active", refresh=True)

    def close(self) -> None:
        """Leave the last line as it is."""
        self._bar.close()
