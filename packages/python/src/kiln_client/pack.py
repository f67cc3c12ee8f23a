"""A folder that is published: what its pyproject.toml says, and its archive."""

import json
import os
import re
import subprocess
import tempfile
import tomllib
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from .deadline import Deadline
from .types import NodeVersion

# Files and folders that no pack needs or that must never be published.
_LEFT_OUT = re.compile(
    r"(\.git|\.hg|\.svn)"
    r"|(__pycache__|\..+_cache|node_modules|\.?venv|.+\.pyc|\.DS_Store|Thumbs\.db)"
    r"|\.env(\.(?!example$|sample$).*)?|\.netrc|\.pypirc|id_(rsa|ed25519)|.*\.pem"
)


class PackError(Exception):
    """A folder that is no pack; the message says what to write."""


@dataclass(frozen=True)
class Project:
    """Publication as a pack's pyproject.toml describes it."""

    node_id: str
    publisher_id: str | None
    node: dict[str, Any]
    version: dict[str, Any]
    #: Paths that are published although git ignores them (`[tool.comfy] includes`).
    includes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """Decision of the service: `state` is `active` when the version can be installed."""

    state: Literal["active", "flagged", "banned", "deleted"]
    #: Sentence that says why.
    reason: str
    #: What does not stand in the way: host nodes that were not read, another version that stays the latest.
    warnings: tuple[str, ...]
    version: NodeVersion


def read_verdict(version: NodeVersion) -> Verdict | None:
    """Reads the verdict, once there is one and the host nodes are read."""
    is_read = version["host_node_extract_status"] not in ("pending", "reported")
    if version["status"] == "NodeVersionStatusPending" or not is_read:
        return None
    state: Any = version["status"].removeprefix("NodeVersionStatus").lower()
    code, advice = version.get("host_node_extract_reason"), version.get("host_node_extract_advice")
    warnings = (f"the host nodes were not read ({code}): {advice}",) if code else ()
    return Verdict(state, version["status_reason"], warnings, version)


def read_project(folder: Path) -> Project:
    """Reads `[project]`, and of `[tool.*]` the first table with a PublisherId."""
    path = folder / "pyproject.toml"
    try:
        table: object = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as cause:
        message = f"{path}, which a pack must have, cannot be read: {cause}"
        raise PackError(message) from cause
    project = _get(table, "project")
    node_id, version = project.get("name"), project.get("version")
    if not node_id:
        raise PackError(f'{path} has no [project] name = "…"')
    if not version:
        raise PackError(f'{path} has no [project] version = "1.0.0"')
    tools = _get(table, "tool")
    publishers = (_get(tools, name) for name in tools)
    tool = next((one for one in publishers if one.get("PublisherId")), _get(tools, "comfy"))
    urls, terms = _get(project, "urls"), project.get("license")
    supported = _read_classifiers(project.get("classifiers", []))
    node = {
        "name": tool.get("DisplayName"),
        "icon": tool.get("Icon"),
        "banner_url": tool.get("Banner"),
        "description": project.get("description"),
        "repository": urls.get("Repository") or urls.get("repository"),
        "license": json.dumps(terms, separators=(",", ":")) if isinstance(terms, dict) else terms,
        **supported,
    }
    return Project(
        node_id,
        tool.get("PublisherId"),
        {name: value for name, value in node.items() if value not in (None, "")},
        {"version": version, "dependencies": project.get("dependencies", []), **supported},
        tuple(re.sub(r"^(\.?/)+|/+$", "", path) for path in tool.get("includes", [])),
    )


def _get(table: object, name: str) -> dict[str, Any]:
    """Returns a table in a table; an empty one where there is none."""
    value = table.get(name) if isinstance(table, dict) else None
    return value if isinstance(value, dict) else {}


def _read_classifiers(classifiers: list[str]) -> dict[str, list[str]]:
    def below(root: str) -> list[str]:
        return [one.removeprefix(root) for one in classifiers if one.startswith(root)]

    gpus = [one for one in below("Environment :: ") if one.startswith("GPU ::")]
    return {"supported_os": below("Operating System :: "), "supported_accelerators": gpus}


def pack_folder(
    folder: Path, archive: Path, deadline: Deadline | None = None, includes: Sequence[str] = ()
) -> None:
    """
    Zips a folder, its files at the top of the archive; the same files give the same bytes.

    `includes` go in although git ignores them; what .comfyignore names stays out.
    """
    left = (deadline or Deadline()).left
    files = _list_files(folder, includes)
    if not files:
        raise PackError(f"{folder} has no files to publish")
    for path in includes:
        if not any(_is_in(path, name) for name in files):
            message = f"[tool.comfy] includes names {path}, of which no file is there to publish"
            raise PackError(f"{message}: build it, or take it out")
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zip:
        for name in files:
            # The first day that a zip can name.
            member = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = 0o100644 << 16
            with (folder / name).open("rb") as source, zip.open(member, "w") as target:
                while left() and (chunk := source.read(1 << 20)):
                    target.write(chunk)


def _is_in(folder: str, path: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


def _list_files(folder: Path, includes: Sequence[str]) -> list[str]:
    """Lists what is published, in the order of the names. Links and what git ignores are left out."""
    ignored, named = _list_ignored(folder), _list_named(folder)
    files: list[str] = []
    for place, folders, names in os.walk(folder):
        below = Path(place).relative_to(folder)

        def is_published(
            name: str, is_folder: bool, place: str = place, below: Path = below
        ) -> bool:
            path = below / name
            text = path.as_posix()
            if (Path(place) / name).is_symlink() or text in named or _LEFT_OUT.fullmatch(name):
                return False
            if ignored.isdisjoint(part.as_posix() for part in (path, *path.parents)):
                return True
            return any(_is_in(one, text) or (is_folder and _is_in(text, one)) for one in includes)

        folders[:] = [name for name in folders if is_published(name, True)]
        files += [(below / name).as_posix() for name in names if is_published(name, False)]
    return sorted(name for name in files if (folder / name).is_file())


def _list_ignored(folder: Path) -> set[str]:
    """Lists what a .gitignore names; nothing outside of a repository."""
    names, excludes, place = ".gitignore", "--exclude-standard", folder.resolve()
    if not any((one / ".git").exists() for one in (place, *place.parents)):
        return set()
    ignored = _list_with_git(folder, names, excludes)
    # A folder that is ignored itself, and named all the same, has patterns of its own.
    return _list_with_git(folder, names, excludes, True) if "." in ignored else ignored


def _list_named(folder: Path) -> set[str]:
    """Lists what .comfyignore names, tracked or not."""
    names = ".comfyignore"
    is_there = (folder / names).exists()
    return _list_with_git(folder, names, f"--exclude-from={names}", True) if is_there else set()


def _list_with_git(folder: Path, names: str, excludes: str, is_apart: bool = False) -> set[str]:
    """Lists what git ignores, folders without their content: apart, in a repository that tracks nothing."""
    options = "ls-files", "--others", "--ignored", excludes, "--directory", "-z"
    with tempfile.TemporaryDirectory() as place:
        at = (f"--git-dir={place}/.git", "--work-tree=.") if is_apart else ()
        try:
            for args in (("init", "-q", place), (*at, *options)):
                ran = subprocess.run(["git", *args], cwd=folder, capture_output=True, check=True)
        except (OSError, subprocess.CalledProcessError) as cause:
            reason = os.fsdecode(getattr(cause, "stderr", b"")).strip() or cause
            message = f"{names} cannot be read by git, which knows its patterns: {reason}"
            raise PackError(message) from cause
    return {os.fsdecode(path.rstrip(b"/")) for path in ran.stdout.split(b"\0")}
