"""Waits for the end of a task or a version."""

import json
import time
from collections.abc import Callable
from contextlib import aclosing
from typing import Any, Generic, TypeVar

from .._blocking import async_sleep
from ..errors import KilnError, ServiceError, read_retry_after
from .http import LONGEST_PAUSE, STREAM_TIMEOUT, AsyncHttp

State = TypeVar("State")

# Streams that break without an event, before the status is read instead.
_STREAM_ATTEMPTS = 3
# Seconds within which a waiting read gets its response.
_WAIT = 30
_LONGEST_PAUSE = 10.0
# When the stream is rejected so, the status may still be read.
_STREAMLESS = {"streams_exceeded", "not_found", "method_not_allowed", "answer_unknown"}
# A service may send others, now or later.
_EVENTS = {"state", "progress", "end"}


class AsyncFollower(Generic[State]):
    """Follows by the stream; by `Prefer: wait` where a proxy or a limit lets none through; else as often as
    Retry-After says.

    Without a path of a stream the status is read, ever less often. `read` is called with the name and data of each event, and with `status` and each response of the status; it
    returns the state once that is the last. `patience` are the seconds for which the service may be away,
    `timeout` those after which a TimeoutError is raised.
    """

    def __init__(
        self,
        http: AsyncHttp,
        paths: tuple[str, str],
        read: Callable[[str, Any], State | None],
        *,
        patience: float,
        timeout: float | None,
    ) -> None:
        self._http = http
        self._stream_path, self._status_path = paths
        self._read = read
        self._patience = patience
        self._timeout = timeout
        self._deadline = None if timeout is None else time.monotonic() + timeout
        # When the service was last heard of.
        self._contact = time.monotonic()
        self._event_id = ""
        self._etag = ""
        # Until the next read of a status that does not say when.
        self._pause = 0.5

    async def follow(self) -> State:
        """Waits for the end."""
        failures, is_streaming = 0, self._stream_path != ""
        while True:
            try:
                end = await (self._read_stream() if is_streaming else self._read_status())
                if end is not None:
                    return end
                failures = 0
            except KilnError as error:
                self._left()
                is_streamless = is_streaming and error.code in _STREAMLESS
                is_away = error.passing and time.monotonic() - self._contact <= self._patience
                if not (is_streamless or is_away):
                    raise
                failures += 1
                is_streaming = is_streaming and not is_streamless and failures < _STREAM_ATTEMPTS
                if not is_streamless:
                    pause = self._http.pause_after(failures, error)
                    await async_sleep(self._left(LONGEST_PAUSE if pause is None else pause))

    async def _read_stream(self) -> State | None:
        """Reads the stream until its end; None when it was closed before, after some events."""
        first = self._event_id
        stream = self._http.events(self._stream_path, first, self._left(STREAM_TIMEOUT))
        async with aclosing(stream) as events:
            async for event in events:
                self._contact = time.monotonic()
                self._event_id = event.id or self._event_id
                end = None
                if event.event in _EVENTS:
                    end = self._read(event.event, json.loads(event.data))
                if end is not None:
                    return end
                self._left()
        if self._event_id == first:
            raise ServiceError("unreachable", "the stream ended without an event")
        return None

    async def _read_status(self) -> State | None:
        """Reads the status at its next change; None when it is not the last."""
        headers = {"prefer": f"wait={int(self._left(_WAIT))}"}
        if self._etag:
            headers["if-none-match"] = self._etag
        response = await self._http.request("GET", self._status_path, headers=headers)
        self._contact = time.monotonic()
        if response.status_code == 200:
            self._etag = response.headers.get("etag", "")
            end = self._read("status", response.json())
            if end is not None:
                return end
        if "preference-applied" not in response.headers:
            asked = read_retry_after(response)
            self._pause = min(_LONGEST_PAUSE, self._pause * 1.5)
            await async_sleep(self._left(self._pause if asked is None else asked))
        return None

    def _left(self, limit: float = 0.0) -> float:
        """Returns the seconds that are left, `limit` at most."""
        if self._deadline is None:
            return limit
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError(f"it has not ended within {self._timeout} s")
        return min(limit, left)
