"""Batches and operations: many tasks with one request."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import Any, Generic, Literal, TypeVar, cast

import httpx

from ..arguments import ArgumentError, to_segment
from ..deadline import Deadline
from ..files import GivenFile, require_lines, to_source
from ..tasks import Replay
from ..types import Batch, BatchLine, Operation, OperationFilter, OperationLine
from .follow import AsyncFollower
from .http import AsyncRoutes

Bulk = TypeVar("Bulk", Batch, Operation)
Line = TypeVar("Line", BatchLine, OperationLine)

Action = Literal["cancel", "run_again", "redeliver", "delete"]

OnReplay = Callable[[Replay], object]

_ENDS = ("done", "cancelled", "failed")


class _AsyncBulks(AsyncRoutes, Generic[Bulk, Line]):
    """What batches and operations have in common."""

    _root: str
    _id: str

    async def _post(self, body: Mapping[str, Any], key: str | None = None) -> httpx.Response:
        given = {name: value for name, value in body.items() if value is not None}
        return await self._http.request("POST", self._root, json=given, idempotency_key=key)

    async def _create(self, body: Mapping[str, Any], key: str | None, on_replay: OnReplay) -> str:
        made = await self._post(body, key)
        id = str(made.json()[self._id])
        replay = await self._http.replay(made, key, self._path(id))
        if replay:
            on_replay(replay)
        return id

    def _path(self, id: str, part: str = "") -> str:
        return f"{self._root}/{to_segment(id)}{part}"

    async def list(self, *, limit: int | None = None) -> AsyncGenerator[dict[str, Any]]:
        """Lists the caller's, the newest first, without their counts."""
        async for bulk in self._http.pages(self._root, self._root[1:], {"limit": limit}):
            yield bulk

    async def read(self, id: str) -> Bulk:
        """Reads it as it is now, with its counts."""
        return cast(Bulk, (await self._http.request("GET", self._path(id))).json())

    async def cancel(self, id: str) -> Bulk:
        """Stops it. Raises a ConflictError when it has ended."""
        return cast(Bulk, (await self._http.request("POST", self._path(id, "/cancel"))).json())

    async def results(self, id: str) -> AsyncGenerator[Line]:
        """Reads what has become of each item, in their order, line by line; goes on after a break."""
        async for line in self._http.lines(self._path(id, "/results")):
            yield line

    async def wait(
        self,
        id: str,
        *,
        on_progress: Callable[[Bulk], object] = lambda _: None,
        patience: float = 300,
        timeout: float | None = None,
    ) -> Bulk:
        """Waits until it has ended, however that is, and returns it; `on_progress` is called with its counts."""

        def read(_: str, data: Any) -> Bulk | None:
            if data["state"] in _ENDS:
                return cast(Bulk, data)
            on_progress(data)
            return None

        paths, deadline = ("", self._path(id)), Deadline(timeout, id)
        return await AsyncFollower(self._http, paths, read, patience, deadline).follow()


class AsyncBatches(_AsyncBulks[Batch, BatchLine]):
    """Batches, which make many tasks one after another."""

    _root = "/batches"
    _id = "batch_id"

    async def create(
        self,
        requests: Sequence[Mapping[str, Any]] | GivenFile,
        *,
        labels: Mapping[str, str] | None = None,
        webhook_url: str | None = None,
        idempotency_key: str | None = None,
        on_replay: OnReplay = lambda _: None,
    ) -> str:
        """Makes a batch of at most 1,000 requests, `{"path": …, "body": …}`, or of a file with one a line; returns
        its id. A request may have `custom_id` and `idempotency_key`, too. `on_replay` is called before when an
        earlier request with the same key has made it."""
        given: dict[str, Any] = {"requests": requests}
        if not isinstance(requests, Sequence) or isinstance(requests, bytes | bytearray | str):
            source = to_source("requests", requests)
            require_lines(source)
            given = {"file": await self._http.upload(source)}
        body = {**given, "labels": labels, "webhook_url": webhook_url}
        return await self._create(body, idempotency_key, on_replay)


class AsyncOperations(_AsyncBulks[Operation, OperationLine]):
    """Operations, which act on all tasks that a filter finds."""

    _root = "/operations"
    _id = "operation_id"

    async def create(
        self,
        action: Action,
        filter: OperationFilter,
        *,
        all: bool = False,
        owner: str | None = None,
        idempotency_key: str | None = None,
        on_replay: OnReplay = lambda _: None,
    ) -> str:
        """Begins to act on the tasks that are there now; returns its id.

        `all` says that an empty filter is meant, which finds all tasks. `owner` is for platform admins.
        """
        body = {"action": action, **_require_filter(filter, all), "owner": owner}
        return await self._create(body, idempotency_key, on_replay)

    async def count(
        self,
        action: Action,
        filter: OperationFilter,
        *,
        all: bool = False,
        owner: str | None = None,
    ) -> int:
        """Counts the tasks that it would act on, as a dry run."""
        body = {"action": action, **_require_filter(filter, all), "owner": owner, "dry_run": True}
        return int((await self._post(body)).json()["matched"])


def _require_filter(filter: OperationFilter, all: bool) -> dict[str, Any]:
    """Of an empty filter a member may have been forgotten, so that it finds all tasks must be said."""
    is_empty = not any(value not in (None, "") for value in filter.values())
    if is_empty and not all:
        raise ArgumentError("filter must not be empty, unless `all` says that all tasks are meant")
    if all and not is_empty:
        raise ArgumentError("all must be absent beside a filter that is not empty")
    return {"filter": filter, "all": all or None}
