"""Tasks as callers see them, and the paths under which the service has them."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from .arguments import to_segment

IMAGES = "/proxy/imgvendor/v1/ai"
VIDEOS = "/proxy/vidvendor"


@dataclass(frozen=True)
class TaskFile:
    """A file that a task has made. Its links need no credential, and live a day."""

    url: str
    #: Cover of a video.
    cover_url: str | None = None
    watermarked_url: str | None = None


@dataclass(frozen=True)
class TaskError:
    """Why a task failed."""

    code: str
    message: str


class Replay(NamedTuple):
    """What an earlier request with the same idempotency key has made, as it is now; None where that cannot be read."""

    created_at: str | None
    #: That of a list: of a task `done`, `failed`, `cancelled`, or one that goes on.
    state: str | None
    ended_at: str | None


@dataclass(frozen=True)
class Task:
    """A task of either family."""

    id: str
    state: Literal["running", "succeeded", "failed"]
    #: The service's own word, such as IN_PROGRESS or queueing.
    status: str
    #: Percentage of a video that is rendered.
    progress: int | None = None
    #: Why one that has begun does not go on.
    waits_for: str | None = None
    files: tuple[TaskFile, ...] = ()
    error: TaskError | None = None
    #: Path of its status, where that is known.
    path: str | None = None
    #: Of a task that is made: an earlier request with its idempotency key has made it.
    replayed: Replay | None = None


def status_path(family: str, id: str) -> str:
    """Path under which the status of a task is read; `family` is empty for a video."""
    name = to_segment(id)
    return f"{IMAGES}/{family}/{name}" if family else f"{VIDEOS}/tasks/{name}/creations"


def read_task(body: Any, path: str | None = None) -> Task:
    """Reads a task from the response of any of its routes."""
    return _read_image(body["data"], path) if "data" in body else _read_video(body, path)


def _read_image(record: Any, path: str | None) -> Task:
    id, status = record["task_id"], record["status"]
    if status == "COMPLETED":
        files = tuple(TaskFile(url) for url in record["generated"])
        return Task(id, "succeeded", status, progress=100, files=files, path=path)
    if status == "FAILED":
        error = record.get("error", {})
        code, message = error.get("code", "unknown"), error.get("message", "the task failed")
        return Task(id, "failed", status, error=TaskError(code, message), path=path)
    percent, waits_for = record.get("progress"), record.get("waits_for")
    return Task(id, "running", status, progress=percent, waits_for=waits_for, path=path)


def _read_video(record: Any, path: str | None) -> Task:
    # The response of a creation has `task_id` where the others have `id`.
    id, status = record.get("task_id") or record["id"], record["state"]
    if status == "failed":
        error = TaskError(record["err_code"], record["err_msg"])
        return Task(id, "failed", status, error=error, path=path)
    if status == "success":
        files = tuple(
            TaskFile(
                each["url"], each.get("cover_url") or None, each.get("watermarked_url") or None
            )
            for each in record["creations"]
        )
        return Task(id, "succeeded", status, progress=100, files=files, path=path)
    percent, waits_for = record.get("progress") or None, record.get("waits_for")
    return Task(id, "running", status, progress=percent, waits_for=waits_for, path=path)
