"""The client: tasks, batches, operations and the registry."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Unpack

from .. import types
from .._blocking import async_call
from ..arguments import to_segment
from ..deadline import Deadline
from ..files import IMAGE_MEMBERS, require_no_path, to_base64, to_source
from ..tasks import IMAGES, VIDEOS, Task, id_of, read_task, status_path
from .account import AsyncEndpoints, AsyncEvents, AsyncSecrets, AsyncTasks
from .bulk import AsyncBatches, AsyncOperations
from .follow import AsyncFollower
from .http import AsyncHttp, AsyncRoutes
from .registry import AsyncRegistry


class AsyncKiln(AsyncHttp):
    """A client of one service.

    `token` is a bearer token, or a function that is called before each attempt, for tokens that expire; an
    `api_key` takes its place. Without a credential a client makes videos and reads the registry. Codes that
    pass and lost connections are retried: `attempts` times in all, after `backoff` seconds and then twice as
    long each time, or after Retry-After. `client` brings proxies or certificates of your own.

    There is a method for each kind of task, which returns as soon as the task is durable. Its arguments are the
    members of the body; images may be bytes, paths or open files, too. With the same `idempotency_key` and body it is the
    same task.
    """

    @property
    def registry(self) -> AsyncRegistry:
        return AsyncRegistry(self)

    @property
    def batches(self) -> AsyncBatches:
        return AsyncBatches(self)

    @property
    def operations(self) -> AsyncOperations:
        return AsyncOperations(self)

    @property
    def tasks(self) -> AsyncTasks:
        return AsyncTasks(self)

    @property
    def events(self) -> AsyncEvents:
        return AsyncEvents(self)

    @property
    def endpoints(self) -> AsyncEndpoints:
        return AsyncEndpoints(self)

    @property
    def secrets(self) -> AsyncSecrets:
        return AsyncSecrets(self)

    @property
    def templates(self) -> "AsyncTemplates":
        return AsyncTemplates(self)

    async def credits(self) -> types.VideoCredits:
        """Reads the caller's credits, and the slots for videos."""
        return await self.read_json("GET", "/proxy/vidvendor/credits")

    async def usage(
        self,
        by: str = "day",
        *,
        first_day: str | None = None,
        last_day: str | None = None,
        label: str | None = None,
        owner: str | None = None,
    ) -> types.Usage:
        """Reports what ended tasks have used, `by` `day`, `kind`, `label:<key>` or, for platform admins, `owner`.

        Days are those of UTC, such as 2026-01-31; absent: the last 30. `label`, `key:value`, chooses tasks.
        """
        query = {"by": by, "from": first_day, "to": last_day, "label": label, "owner": owner}
        return (await self.request("GET", "/usage", params=query)).json()

    async def relight(self, **body: Unpack[types.RelightBody]) -> Task:
        """Changes the light of an image."""
        return await self._create("image-relight", "image-relight", body)

    async def upscale(self, **body: Unpack[types.UpscaleBody]) -> Task:
        """Makes an image larger."""
        return await self._create("image-upscaler", "image-upscaler", body)

    async def upscale_precision(self, **body: Unpack[types.UpscalePrecisionBody]) -> Task:
        """Makes an image larger, and keeps to it."""
        segment = "image-upscaler-precision-v2"
        return await self._create(segment, segment, body)

    async def skin_flexible(self, **body: Unpack[types.SkinFlexibleBody]) -> Task:
        """Enhances skin, optimized for one thing."""
        return await self._create("skin-enhancer/flexible", "skin-enhancer", body)

    async def skin_creative(self, **body: Unpack[types.SkinCreativeBody]) -> Task:
        """Enhances skin with more style."""
        return await self._create("skin-enhancer/creative", "skin-enhancer", body)

    async def skin_faithful(self, **body: Unpack[types.SkinFaithfulBody]) -> Task:
        """Enhances skin, and keeps to the image."""
        return await self._create("skin-enhancer/faithful", "skin-enhancer", body)

    async def text_to_video(self, **body: Unpack[types.TextToVideoBody]) -> Task:
        """Makes a video of a prompt, an image, or both."""
        return await self._create("text2video", "", body)

    async def image_to_video(self, **body: Unpack[types.ImageToVideoBody]) -> Task:
        """Makes a video that begins with an image."""
        return await self._create("img2video", "", body)

    async def start_end_to_video(self, **body: Unpack[types.StartEndToVideoBody]) -> Task:
        """Makes a video from one image to another."""
        return await self._create("start-end2video", "", body)

    async def extend_video(self, **body: Unpack[types.ExtendBody]) -> Task:
        """Makes a video longer."""
        return await self._create("extend", "", body)

    async def _create(self, name: str, family: str, body: Any) -> Task:
        task = await self._post_task(f"{IMAGES if family else VIDEOS}/{name}", body)
        return replace(task, path=status_path(family, task.id))

    async def _post_task(self, path: str, body: dict[str, Any]) -> Task:
        key = body.pop("idempotency_key", None)
        given = {member: await self._give(member, value) for member, value in body.items()}
        made = await self.request("POST", path, json=given, idempotency_key=key)
        task = read_task(made.json())
        replayed = await self.replay(made, key, f"/tasks/{to_segment(task.id)}")
        return replace(task, replayed=replayed)

    async def _give(self, name: str, value: Any) -> Any:
        """Returns a link, or without a credential Base64, in the place of a file."""
        if isinstance(value, list | tuple):
            return [await self._give(name, each) for each in value]
        if isinstance(value, str) and name in IMAGE_MEMBERS:
            return require_no_path(name, value)
        if isinstance(value, str | int | float | dict | datetime | None):
            return value
        source = await async_call(lambda: to_source(name, value))
        if any(secret is not None for secret in self._secrets.values()):
            return await self.upload(source)
        return await async_call(lambda: to_base64(source))

    async def read(self, task: Task | str) -> Task:
        """Reads a task as it is now."""
        return await self._read_at(await self._find_path(task))

    async def _find_path(self, task: Task | str, deadline: Deadline | None = None) -> str:
        """Finds the path of a task's status. A token for one task reads it by that of tasks of any kind alone."""
        any_path = f"/tasks/{to_segment(id_of(task))}"
        if self._credentials().get("authorization", "").startswith("Bearer kiln_task_"):
            return any_path
        if isinstance(task, Task) and task.path:
            return task.path
        item = (await self.request("GET", any_path, deadline=deadline)).json()
        return str(item["path"]) + ("/creations" if item["family"] == "video" else "")

    async def _read_at(self, path: str) -> Task:
        return read_task((await self.request("GET", path)).json(), path)

    async def wait(
        self,
        task: Task | str,
        *,
        on_progress: Callable[[Task], object] = lambda _: None,
        patience: float = 300,
        timeout: float | None = None,
    ) -> Task:
        """Waits until a task has ended, however that is, and returns it.

        `on_progress` is called with the task at once, at each transition and percentage, when what it waits for
        changes, and with its end. A service that is away for less than `patience` seconds is waited for. After
        `timeout` seconds it raises a TimeoutError; the task goes on.
        """
        deadline = Deadline(timeout, id_of(task))
        seen = task if isinstance(task, Task) else Task(task, "running", "")
        reported: tuple[Any, ...] = ()

        async def find() -> str:
            nonlocal seen
            seen = replace(seen, path=await self._find_path(task, deadline))
            return str(seen.path)

        def read(event: str, data: Any) -> Task | None:
            nonlocal seen, reported
            end = None
            if event in ("end", "status"):
                now = read_task(data, seen.path)
                end = None if now.state == "running" else now
                data = {"status": now.status, "progress": now.progress, "waits_for": now.waits_for}
            status, percent = data.get("status") or seen.status, data.get("progress")
            percent = seen.progress if percent is None else percent
            percent = 100 if status in ("success", "COMPLETED") else percent
            waits_for = data.get("waits_for")
            known, reported = reported, (status, percent, waits_for)
            seen = end or replace(seen, status=status, progress=percent, waits_for=waits_for)
            if reported != known:
                on_progress(seen)
            return end

        paths = f"/tasks/{to_segment(seen.id)}/stream", find
        return await AsyncFollower(self, paths, read, patience, deadline).follow()

    async def cancel(self, task: Task | str) -> Task:
        """Cancels a task, and returns it. Raises a ConflictError when it has ended, or is a video that is being rendered."""
        path = await self._find_path(task)
        await self.request("POST", f"{path.removesuffix('/creations')}/cancel")
        return await self._read_at(path)

    async def make_token(self, task: Task | str) -> types.TaskToken:
        """Makes a token that reads this task alone, for an hour at most: for a page in a browser, of any origin."""
        return await self.read_json("POST", f"/tasks/{to_segment(id_of(task))}/tokens")


class AsyncTemplates(AsyncRoutes):
    """Kinds that an operator of the service has added."""

    _http: AsyncKiln

    async def list(self) -> Sequence[dict[str, Any]]:
        """Lists the templates that tasks can be made with, each with the JSON Schema of its `body`."""
        return (await self._http.read_json("GET", "/templates"))["templates"]

    async def create_task(self, name: str, /, **body: Any) -> Task:
        """Makes a task with a template; its images may be bytes, paths or open files, too."""
        path = f"/templates/{to_segment(name)}/tasks"
        task = await self._http._post_task(path, body)
        return replace(task, path=f"{path}/{to_segment(task.id)}")
