"""Tasks as callers see them, and the paths under which the service has them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
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
    #: What the engine said of it, where callers may read that.
    engine_error: str | None = None

    def __str__(self) -> str:
        said = f" (engine: {self.engine_error})" if self.engine_error else ""
        return f"{self.code}: {self.message}{said}"


class Replay(NamedTuple):
    """What an earlier request with the same idempotency key has made, as it is now; None where that cannot be read."""

    created_at: str | None
    #: That of a list: of a task `done`, `failed`, `cancelled`, or one that goes on.
    state: str | None
    ended_at: str | None


State = Literal["running", "succeeded", "failed"]

# States by the words of the service in small letters; in all others a task goes on.
_ENDS: dict[str, State] = {"completed": "succeeded", "success": "succeeded", "failed": "failed"}


@dataclass(frozen=True)
class Task:
    """A task of either family."""

    id: str
    state: State
    #: The service's own word, such as IN_PROGRESS or queueing.
    status: str
    #: Percentage of a video that is rendered.
    progress: int | None = None
    #: Why one that has begun does not go on.
    waits_for: str | None = None
    files: tuple[TaskFile, ...] = ()
    error: TaskError | None = None
    #: Sentences about what of the request takes no effect, or may surprise.
    warnings: tuple[str, ...] = ()
    #: Path of its status, where that is known.
    path: str | None = None
    #: Of a task that is made: an earlier request with its idempotency key has made it.
    replayed: Replay | None = None


def status_path(family: str, id: str) -> str:
    """Path under which the status of a task is read; `family` is empty for a video."""
    name = to_segment(id)
    return f"{IMAGES}/{family}/{name}" if family else f"{VIDEOS}/tasks/{name}/creations"


def id_of(task: Task | str) -> str:
    return task.id if isinstance(task, Task) else task


def read_task(body: Any, path: str | None = None) -> Task:
    """Reads a task from the response of any of its routes."""
    record = body.get("data", body)
    # Of a video only the response of its creation has `task_id`.
    id, status = record.get("task_id") or record["id"], record.get("status") or record["state"]
    state = _ENDS.get(status.lower(), "running")
    task = Task(id, state, status, warnings=tuple(record.get("warnings", ())), path=path)
    if state == "failed":
        return replace(task, error=_read_error(record))
    if state == "succeeded":
        return replace(task, progress=100, files=tuple(_list_files(record)))
    percent, waits_for = record.get("progress") or None, record.get("waits_for")
    return replace(task, progress=percent, waits_for=waits_for)


def _read_error(record: Any) -> TaskError:
    error = record.get("error", {})
    code = record.get("err_code") or error.get("code", "unknown")
    message = record.get("err_msg") or error.get("message", "the task failed")
    return TaskError(code, message, error.get("engine_error") or record.get("engine_error"))


def _list_files(record: Any) -> Iterable[TaskFile]:
    if "generated" in record:
        return map(TaskFile, record["generated"])
    if "creations" in record:
        every, others = record["creations"], ("cover_url", "watermarked_url")
        return (TaskFile(each["url"], *(each.get(n) or None for n in others)) for each in every)
    # The route of all tasks lists each file by its name.
    urls: Any = {each["name"]: each["url"] for each in record["results"]}
    if record["family"] == "image":
        return map(TaskFile, urls.values())
    numbers = (name[5:-4] for name in urls if name.startswith("video"))
    names = ("video{}.mp4", "cover{}.jpg", "watermarked{}.mp4")
    return (TaskFile(*(urls.get(name.format(n)) for name in names)) for n in numbers)
