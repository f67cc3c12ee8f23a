"""Both clients by the same calls: `kiln_of` makes one whose requests a list of responses serves."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import anyio.from_thread
import httpx
import pytest

from kiln_client import AsyncKiln, Kiln


async def read_all(items: Any) -> list[Any]:
    return [item async for item in items]


class Blocking:
    """An async client, each of whose methods is awaited where it is called."""

    def __init__(self, client: Any, portal: Any) -> None:
        self._client, self._portal = client, portal

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._client, name)
        if not callable(value):
            return Blocking(value, self._portal)
        if inspect.isasyncgenfunction(value):
            return lambda *args, **options: self._portal.call(read_all, value(*args, **options))
        if not inspect.iscoroutinefunction(value):
            return value
        return lambda *args, **options: self._portal.call(lambda: value(*args, **options))


@pytest.fixture(params=[Kiln, AsyncKiln], ids=["sync", "async"])
def make(request: pytest.FixtureRequest) -> Iterator[Callable[..., Any]]:
    """Makes a client of either kind."""
    if request.param is Kiln:
        yield Kiln
        return
    with anyio.from_thread.start_blocking_portal() as portal:
        yield lambda *args, **options: Blocking(AsyncKiln(*args, **options), portal)


Given = httpx.Response | Exception | Callable[[httpx.Request], httpx.Response]


class Clock:
    """Time of a test: it goes on by what is slept, and as the test says."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    async def async_sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Puts a clock of its own under deadlines, waits and pauses."""
    clock = Clock()
    monkeypatch.setattr("kiln_client.deadline.time", clock)
    for kind, sleep in [("_sync", "sleep"), ("_async", "async_sleep")]:
        monkeypatch.setattr(f"kiln_client.{kind}.follow.time", clock)
        for name in ("http", "follow"):
            monkeypatch.setattr(f"kiln_client.{kind}.{name}.{sleep}", getattr(clock, sleep))
    return clock


@pytest.fixture
def kiln_of(make: Callable[..., Any]) -> Callable[..., tuple[Any, list[httpx.Request]]]:
    def make_wired(*responses: Given, **options: Any) -> tuple[Any, list[httpx.Request]]:
        seen: list[httpx.Request] = []
        left = list(responses)

        def handle(request: httpx.Request) -> httpx.Response:
            seen.append(request)
            given = left.pop(0)
            if isinstance(given, Exception):
                raise given
            return given(request) if callable(given) else given

        transport = httpx.MockTransport(handle)

        def factory(is_async: bool) -> httpx.Client | httpx.AsyncClient:
            # Whatever a caller's client does, a redirect must not carry a credential away.
            options: Any = {"transport": transport, "follow_redirects": True}
            return (httpx.AsyncClient if is_async else httpx.Client)(**options)

        client = factory(make is not Kiln)
        return make("http://kiln.test/", client=client, backoff=0, **options), seen

    return make_wired
