"""The registry: reads, and the publication of a pack."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, Unpack

from .. import types
from .._blocking import async_call
from ..arguments import require_header, to_segment
from ..deadline import Deadline
from ..pack import PackError, Verdict, pack_folder, read_project, read_verdict
from .follow import AsyncFollower
from .http import AsyncRoutes

OnStep = Callable[[str], object]


class AsyncRegistry(AsyncRoutes):
    """Nodes and their versions."""

    async def search(self, **query: Unpack[types.NodeSearch]) -> types.NodePage:
        """Searches the nodes of all publishers."""
        return await self._get("/nodes/search", query)

    async def node(self, node_id: str) -> types.Node:
        """Reads a pack."""
        return await self._get(_path(node_id))

    async def versions(self, node_id: str) -> list[types.NodeVersion]:
        """Lists the versions of a pack."""
        return await self._get(f"{_path(node_id)}/versions")

    async def version(self, node_id: str, version: str) -> types.NodeVersion:
        """Reads a version."""
        return await self._get(_path(node_id, version))

    async def install(
        self,
        node_id: str,
        version: str | None = None,
        *,
        channel: Literal["latest", "pre"] | None = None,
    ) -> types.NodeVersion:
        """Names the version to install, the latest of the channel unless named, and counts a download."""
        return await self._get(
            f"{_path(node_id)}/install", {"version": version, "channel": channel}
        )

    async def findings(self, node_id: str, version: str) -> types.VersionFindings:
        """Reads the findings of the checks; the places are for members of the publisher."""
        return await self._get(f"{_path(node_id, version)}/findings")

    async def host_nodes(
        self, node_id: str, version: str, **query: Unpack[types.HostNodeQuery]
    ) -> types.HostNodePage:
        """Lists the host nodes of a version."""
        return await self._get(f"{_path(node_id, version)}/host-nodes", query)

    async def reviews(
        self, node_id: str, **query: Unpack[types.ReviewQuery]
    ) -> types.NodeReviewPage:
        """Lists the reviews of a pack, the newest first unless asked otherwise."""
        return await self._get(f"{_path(node_id)}/reviews", query)

    async def review(
        self, node_id: str, **body: Unpack[types.NodeReviewUpdate]
    ) -> types.NodeReview:
        """Writes the caller's one review of a pack, or edits it: an absent text is kept, an empty one clears it."""
        return await self._http.read_json("PUT", f"{_path(node_id)}/reviews/mine", body)

    async def edit_node(
        self, publisher: str, node_id: str, **body: Unpack[types.NodeUpdate]
    ) -> types.Node:
        """Changes what the registry says of a pack; absent members stay."""
        return await self._http.read_json("PUT", _own_path(publisher, node_id), body)

    async def edit_version(
        self, publisher: str, node_id: str, version: str, **body: Unpack[types.NodeVersionUpdate]
    ) -> types.NodeVersion:
        """Sets the changelog of a version, or that it is deprecated."""
        return await self._http.read_json("PUT", _own_path(publisher, node_id, version), body)

    async def delete_version(self, publisher: str, node_id: str, version: str) -> None:
        """Deletes a version."""
        await self._http.request("DELETE", _own_path(publisher, node_id, version))

    async def resolve_workflow(self, workflow: Any, **options: Any) -> dict[str, Any]:
        """Finds the packs that a saved workflow needs."""
        body = {"workflow": workflow, **options}
        return await self._http.read_json("POST", "/workflows/resolve", body)

    async def check_workflow(self, workflow: Any, **options: Any) -> dict[str, Any]:
        """Says what updates of packs do to a workflow; `from` and `to` are versions by the id of their pack."""
        body = {"workflow": workflow, **options}
        return await self._http.read_json("POST", "/workflows/check", body)

    async def _get(self, path: str, query: Any = None) -> Any:
        return (await self._http.request("GET", path, params=query)).json()

    async def check(
        self,
        folder: str | os.PathLike[str],
        *,
        publisher: str | None = None,
        token: str | None = None,
        timeout: float | None = None,
    ) -> types.CheckedArchive:
        """Zips a folder, and asks what its publication would say; nothing of it is kept.

        `token`, a personal access token to publish, counts where the client has no credential.
        """
        deadline = Deadline(timeout)
        project = read_project(place := Path(folder))
        query = {"node_id": project.node_id, "version": project.version["version"]}
        if to := publisher or project.publisher_id:
            query["publisher_id"] = to
        sender = self._http
        if token is not None:
            sender = sender.with_token(require_header("token", token))
        with TemporaryDirectory(prefix="kiln-") as scratch:
            archive = Path(scratch) / "pack.zip"
            await async_call(lambda: pack_folder(place, archive, deadline, project.includes))
            checked = await sender.post_file("/registry/check", archive, query, deadline)
        return checked.json()

    async def publish(
        self,
        folder: str | os.PathLike[str],
        *,
        token: str,
        publisher: str | None = None,
        changelog: str | None = None,
        on_step: OnStep = lambda _: None,
        patience: float = 300,
        timeout: float | None = None,
    ) -> Verdict:
        """Zips a folder, publishes it as its pyproject.toml says, uploads it, and waits for the verdict.

        `token` is a personal access token of the publisher, or what trusted publishing gave in its place. After
        `timeout` seconds it raises a TimeoutError; what was uploaded goes on, and `wait` waits for it again.
        """
        deadline = Deadline(timeout)
        require_header("token", token)
        project = read_project(place := Path(folder))
        owner = publisher or project.publisher_id
        if owner is None:
            raise PackError("no publisher is named: `publisher`, or PublisherId in pyproject.toml")
        version = {**project.version, **({"changelog": changelog} if changelog else {})}
        body = {"personal_access_token": token, "node": project.node, "node_version": version}
        with TemporaryDirectory(prefix="kiln-") as scratch:
            archive = Path(scratch) / "pack.zip"
            on_step("packing")
            await async_call(lambda: pack_folder(place, archive, deadline, project.includes))
            on_step("publishing")
            path = f"/publishers/{to_segment(owner)}{_path(project.node_id)}/versions"
            made = (await self._http.request("POST", path, json=body, deadline=deadline)).json()
            on_step("uploading")
            await self._http.send_file("PUT", made["signedUrl"], archive, deadline)
        version_path = _path(project.node_id, made["node_version"]["version"])
        # What publishes without another credential also reads what it has published.
        reader = AsyncRegistry(self._http.with_token(token))
        verdict = await reader._wait(version_path, on_step, patience, deadline)
        return replace(verdict, warnings=(*made.get("warnings", ()), *verdict.warnings))

    async def wait(
        self,
        node_id: str,
        version: str,
        *,
        on_step: OnStep = lambda _: None,
        patience: float = 300,
        timeout: float | None = None,
    ) -> Verdict:
        """Waits until a version is decided on and its host nodes are read."""
        return await self._wait(_path(node_id, version), on_step, patience, Deadline(timeout))

    async def _wait(
        self, path: str, on_step: OnStep, patience: float, deadline: Deadline
    ) -> Verdict:
        def read(_: str, data: Any) -> Verdict | None:
            verdict = read_verdict(data)
            if verdict is None:
                on_step(data["status"].removeprefix("NodeVersionStatus"))
            return verdict

        paths = f"{path}/stream", path
        return await AsyncFollower(self._http, paths, read, patience, deadline).follow()


def _own_path(publisher: str, node_id: str, version: str | None = None) -> str:
    return f"/publishers/{to_segment(publisher)}{_path(node_id, version)}"


def _path(node_id: str, version: str | None = None) -> str:
    node = f"/nodes/{to_segment(node_id)}"
    return node if version is None else f"{node}/versions/{to_segment(version)}"
