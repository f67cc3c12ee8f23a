"""What a caller has beside single tasks: lists, events, endpoints and their secrets."""

from collections.abc import AsyncGenerator, Sequence
from typing import Any, Literal, Unpack

from .. import types
from ..arguments import to_segment
from .http import AsyncRoutes


class AsyncTasks(AsyncRoutes):
    """Tasks of all kinds as lists and records."""

    async def list(self, **filter: Unpack[types.TaskFilter]) -> AsyncGenerator[Any]:
        """Lists the caller's tasks of all kinds, the newest first; `limit` is the most of them, all unless given."""
        async for task in self._http.pages("/tasks", "tasks", filter):
            yield task

    async def details(self, id: str) -> types.TaskDetail:
        """Reads a task with all of its life."""
        return await self._http.read_json("GET", f"/tasks/{to_segment(id)}")

    async def summary(self) -> types.TaskSummary:
        """Counts the caller's tasks that go on, and those that have ended today."""
        return await self._http.read_json("GET", "/tasks/summary")

    async def delete(self, id: str, *, when: Literal["now", "ended"] | None = None) -> None:
        """Deletes a task with its inputs, results and payload; `ended` does so at its end where it cannot be
        cancelled."""
        await self._http.request("DELETE", f"/tasks/{to_segment(id)}", params={"when": when})


class AsyncEvents(AsyncRoutes):
    """Events of tasks, and what has become of their delivery."""

    async def list(self, **filter: Unpack[types.EventFilter]) -> AsyncGenerator[Any]:
        """Lists the events of the caller's tasks, those of the newest task first."""
        async for event in self._http.pages("/events", "events", filter):
            yield event

    async def of_task(self, task_id: str) -> Sequence[types.TaskEvent]:
        """Lists the events of a task."""
        return (await self._http.read_json("GET", _event_path(task_id)))["events"]

    async def attempts(self, task_id: str, event_id: str) -> Sequence[types.DeliveryAttempt]:
        """Lists the attempts at delivering an event."""
        path = _event_path(task_id, event_id, "attempts")
        return (await self._http.read_json("GET", path))["attempts"]

    async def redeliver(self, task_id: str, event_id: str) -> None:
        """Sends an event again."""
        await self._http.request("POST", _event_path(task_id, event_id, "redeliver"))

    async def redeliver_all(self, **body: Any) -> int:
        """Sends all events that have failed again, `since` and `until` a time, of a `batch_id`, or `all`; returns
        their number."""
        return (await self._http.read_json("POST", "/events/redeliver", body))["redeliveries"]


def _event_path(task_id: str, event_id: str | None = None, part: str = "") -> str:
    path = f"/tasks/{to_segment(task_id)}/events"
    return path if event_id is None else f"{path}/{to_segment(event_id)}/{part}"


class AsyncEndpoints(AsyncRoutes):
    """Subscriptions to the events of all tasks."""

    async def list(self) -> Sequence[types.OwnerEndpoint]:
        """Lists the caller's endpoints."""
        return (await self._http.read_json("GET", "/endpoints"))["endpoints"]

    async def create(self, **body: Unpack[types.NewOwnerEndpoint]) -> types.CreatedOwnerEndpoint:
        """Makes an endpoint. Its `secret` is in this response alone."""
        return await self._http.read_json("POST", "/endpoints", body)

    async def read(self, id: str) -> types.OwnerEndpoint:
        """Reads an endpoint."""
        return await self._http.read_json("GET", _endpoint_path(id))

    async def update(
        self, id: str, **body: Unpack[types.OwnerEndpointUpdate]
    ) -> types.OwnerEndpoint:
        """Changes an endpoint, or switches it off or on by `status`."""
        return await self._http.read_json("PUT", _endpoint_path(id), body)

    async def delete(self, id: str) -> None:
        """Deletes an endpoint."""
        await self._http.request("DELETE", _endpoint_path(id))

    async def rotate_secret(
        self, id: str, *, overlap_seconds: int | None = None
    ) -> types.EndpointSecret:
        """Replaces the secret, and returns the new one; that before signs, too, for a day unless given."""
        path, body = _endpoint_path(id, "/webhook-secret/rotate"), _overlap(overlap_seconds)
        return await self._http.read_json("POST", path, body)

    async def test(self, id: str) -> str:
        """Sends an event of the type `endpoint.test`; returns its id."""
        return (await self._http.read_json("POST", _endpoint_path(id, "/test")))["event_id"]

    async def events(
        self, id: str, *, state: str | None = None, limit: int | None = None
    ) -> AsyncGenerator[types.EndpointEvent]:
        """Lists the events that an endpoint was sent or is to be sent, the newest first."""
        query, path = {"state": state, "limit": limit}, _endpoint_path(id, "/events")
        async for event in self._http.pages(path, "events", query, "before"):
            yield event

    async def attempts(self, id: str, event_id: str) -> Sequence[types.DeliveryAttempt]:
        """Lists the attempts at sending an event to an endpoint."""
        path = _endpoint_path(id, f"/events/{to_segment(event_id)}/attempts")
        return (await self._http.read_json("GET", path))["attempts"]

    async def redeliver(self, id: str, event_id: str) -> None:
        """Sends an event to its endpoint again."""
        path = _endpoint_path(id, f"/events/{to_segment(event_id)}/redeliver")
        await self._http.request("POST", path)

    async def redeliver_all(self, id: str, **body: Any) -> int:
        """Sends all that an endpoint has missed again, chosen as of events; returns their number."""
        path = _endpoint_path(id, "/redeliver")
        return (await self._http.read_json("POST", path, body))["redeliveries"]


def _endpoint_path(id: str, part: str = "") -> str:
    return f"/endpoints/{to_segment(id)}{part}"


class AsyncSecrets(AsyncRoutes):
    """The secrets that sign the notifications of tasks and batches; an endpoint has one of its own."""

    async def list(self) -> Sequence[types.Secret]:
        """Lists those that sign now, the newest first."""
        return (await self._http.read_json("GET", "/webhook-secret"))["secrets"]

    async def rotate(self, *, overlap_seconds: int | None = None) -> Sequence[types.Secret]:
        """Replaces the secret; that before signs, too, for a day unless given."""
        body = _overlap(overlap_seconds)
        return (await self._http.read_json("POST", "/webhook-secret/rotate", body))["secrets"]


def _overlap(seconds: int | None) -> dict[str, int]:
    return {} if seconds is None else {"overlap_seconds": seconds}
