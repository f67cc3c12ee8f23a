"""Time until which a call may go on."""

import math
import time

from .arguments import ArgumentError


class Deadline:
    """Ends a call and all that it does: requests, the pauses between them, reads of files. None without a time-out."""

    def __init__(self, timeout: float | None = None, what: str = "it") -> None:
        if not (timeout is None or (isinstance(timeout, int | float) and timeout >= 0)):
            raise ArgumentError("timeout must be a number of seconds, 0 or more")
        self._timeout, self._what = timeout, what
        self._end = math.inf if timeout is None else time.monotonic() + timeout

    def left(self, limit: float = math.inf) -> float:
        """Returns the seconds that are left, `limit` at most. Raises a TimeoutError when there are none."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError(f"{self._what} has not ended within {self._timeout} s")
        return min(limit, left)
