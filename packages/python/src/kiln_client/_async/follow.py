"""Waits for the end of a task or a version."""

import json
import time
from collections.abc import Callable
from contextlib import aclosing
from math import ceil
from typing import Any, Generic, TypeVar

from .._blocking import async_sleep
from ..deadline import Deadline
from ..errors import KilnError, ServiceError, read_retry_after
from .http import LONGEST_PAUSE, STREAM_TIMEOUT, AsyncHttp

State = TypeVar("State")

# Ways to read, each for where the one before is not let through: by the stream, by `Prefer: wait`, and as often as
# Retry-After says.
_STREAM, _WAITING, _PLAIN = range(3)
# Failures in a row after which the next way is taken.
_ATTEMPTS = 3
# Seconds within which a waiting read gets its response. There are proxies that cut what is silent for 30.
_WAIT = 25
_LONGEST_PAUSE = 10.0
# When the stream is rejected so, the status may still be read.
_STREAMLESS = {"streams_exceeded", "not_found", "method_not_allowed", "answer_unknown"}
# A service may send others, now or later.
_EVENTS = {"state", "progress", "end"}


class AsyncFollower(Generic[State]):
    """Follows by the first way that is let through.

    Without a path of a stream the status is read, ever less often. `read` is called with the name and data of each
    event, and with `status` and each response of the status; it returns the state once that is the last. `patience`
    are the seconds for which the service may be away. The path of the status may be a function that finds it.
    """

    def __init__(
        self,
        http: AsyncHttp,
        paths: tuple[str, Any],
        read: Callable[[str, Any], State | None],
        patience: float,
        deadline: Deadline,
    ) -> None:
        self._http = http
        self._stream_path, self._status_path = paths
        self._read = read
        self._patience = patience
        self._deadline = deadline
        self._way = _STREAM if self._stream_path else _WAITING
        # When the service was last heard of.
        self._contact = time.monotonic()
        # No status has this ETag, so that the first read gets its response at once.
        self._event_id, self._etag = "", '"none"'
        # Until the next read of a status that does not say when.
        self._pause = 0.5

    async def follow(self) -> State:
        """Waits for the end."""
        failures = 0
        while True:
            # A stream gives control back only when something comes.
            if self._way == _STREAM and self._deadline.left() < STREAM_TIMEOUT:
                self._way = _WAITING
            try:
                if not isinstance(self._status_path, str):
                    self._status_path = await self._status_path()
                    self._contact = time.monotonic()
                end = await (self._read_stream() if self._way == _STREAM else self._read_status())
                if end is not None:
                    return end
                failures = 0
            except KilnError as error:
                self._deadline.left()
                is_found = isinstance(self._status_path, str)
                is_closed = is_found and self._is_closed(error)
                is_away = error.passing and time.monotonic() - self._contact <= self._patience
                if not (is_closed or is_away):
                    raise
                failures += 1
                pause = self._http.pause_after(failures, error)
                if is_found and self._way != _PLAIN and (is_closed or failures >= _ATTEMPTS):
                    self._way, failures = self._way + 1, 0
                if not is_closed:
                    await async_sleep(
                        self._deadline.left(LONGEST_PAUSE if pause is None else pause)
                    )

    def _is_closed(self, error: KilnError) -> bool:
        """True when no second attempt helps, but the next way may."""
        if self._way == _STREAM:
            # A proxy says these of a service that is away.
            return error.code in _STREAMLESS and error.status not in (502, 503)
        is_gateway = error.code == "answer_unknown" and error.status in (502, 504)
        return self._way == _WAITING and is_gateway

    async def _read_stream(self) -> State | None:
        """Reads the stream until its end; None when it was closed before, after some events, or its time is over."""
        first = self._event_id
        async with aclosing(self._http.stream(self._stream_path, first)) as events:
            async for event in events:
                self._contact = time.monotonic()
                if event is None and self._deadline.left() < STREAM_TIMEOUT:
                    return None
                if event is None:
                    continue
                self._event_id = event.id or self._event_id
                end = None
                if event.event in _EVENTS:
                    end = self._read(event.event, json.loads(event.data))
                if end is not None:
                    return end
        if self._event_id == first:
            raise ServiceError("unreachable", "the stream ended without an event")
        return None

    async def _read_status(self) -> State | None:
        """Reads the status, at its next change where that can be waited for; None when it is not the last."""
        seconds = ceil(self._deadline.left(_WAIT))
        wait = {"prefer": f"wait={seconds}"} if self._way == _WAITING else {}
        known = {"if-none-match": self._etag} if self._etag else {}
        response = await self._http.request(
            "GET", self._status_path, headers={**wait, **known}, attempts=1, deadline=self._deadline
        )
        self._contact = time.monotonic()
        if response.status_code == 200:
            self._etag = response.headers.get("etag", "")
            end = self._read("status", response.json())
            if end is not None:
                return end
        if "preference-applied" not in response.headers:
            asked = read_retry_after(response)
            self._pause = min(_LONGEST_PAUSE, self._pause * 1.5)
            await async_sleep(self._deadline.left(self._pause if asked is None else asked))
        return None
