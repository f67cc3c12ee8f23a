"""Batches and operations: many tasks with one request."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import Any, Generic, Literal, TypeVar, cast
from urllib.parse import quote

from ..files import FileSource
from ..types import Batch, BatchLine, Operation, OperationFilter, OperationLine
from .follow import AsyncFollower
from .http import AsyncHttp

Bulk = TypeVar("Bulk", Batch, Operation)
Line = TypeVar("Line", BatchLine, OperationLine)

Action = Literal["cancel", "run_again", "redeliver", "delete"]

_ENDS = ("done", "cancelled", "failed")


class _AsyncBulks(Generic[Bulk, Line]):
    """What batches and operations have in common."""

    _root: str

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def _create(self, body: Mapping[str, Any], idempotency_key: str | None) -> Any:
        given = {name: value for name, value in body.items() if value is not None}
        headers = {} if idempotency_key is None else {"idempotency-key": idempotency_key}
        return (await self._http.request("POST", self._root, json=given, headers=headers)).json()

    def _path(self, id: str, part: str = "") -> str:
        return f"{self._root}/{quote(id, safe='')}{part}"

    async def read(self, id: str) -> Bulk:
        """Reads it as it is now, with its counts."""
        return cast(Bulk, (await self._http.request("GET", self._path(id))).json())

    async def cancel(self, id: str) -> Bulk:
        """Stops it. Raises a ConflictError when it has ended."""
        return cast(Bulk, (await self._http.request("POST", self._path(id, "/cancel"))).json())

    async def results(self, id: str) -> AsyncGenerator[Line]:
        """Reads what has become of each item, in their order, line by line."""
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

        follower = AsyncFollower(
            self._http, ("", self._path(id)), read, patience=patience, timeout=timeout
        )
        return await follower.follow()


class AsyncBatches(_AsyncBulks[Batch, BatchLine]):
    """Batches, which make many tasks one after another."""

    _root = "/batches"

    async def create(
        self,
        requests: Sequence[Mapping[str, Any]] | FileSource,
        *,
        labels: Mapping[str, str] | None = None,
        webhook_url: str | None = None,
        idempotency_key: str | None = None,
    ) -> str:
        """Makes a batch of at most 1,000 requests, `{"path": …, "body": …}`, or of a file with one a line; returns
        its id."""
        is_list = isinstance(requests, Sequence) and not isinstance(requests, bytes)
        given = (
            {"requests": requests}
            if is_list
            else {"file": await self._http.upload(cast(FileSource, requests))}
        )
        body = {**given, "labels": labels, "webhook_url": webhook_url}
        return str((await self._create(body, idempotency_key))["batch_id"])


class AsyncOperations(_AsyncBulks[Operation, OperationLine]):
    """Operations, which act on all tasks that a filter finds."""

    _root = "/operations"

    async def create(
        self,
        action: Action,
        filter: OperationFilter,
        *,
        owner: str | None = None,
        idempotency_key: str | None = None,
    ) -> str:
        """Begins to act on the tasks that are there now; returns its id. `owner` is for platform admins."""
        body = {"action": action, "filter": filter, "owner": owner}
        return str((await self._create(body, idempotency_key))["operation_id"])

    async def count(
        self, action: Action, filter: OperationFilter, *, owner: str | None = None
    ) -> int:
        """Counts the tasks that it would act on, as a dry run."""
        body = {"action": action, "filter": filter, "owner": owner, "dry_run": True}
        return int((await self._create(body, None))["matched"])
