"""A folder that is published: what its pyproject.toml says, and its archive."""

import json
import os
import re
import subprocess
import tomllib
import zipfile
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
    tools = [_get(_get(table, "tool"), name) for name in _get(table, "tool")]
    tool = next((one for one in tools if one.get("PublisherId")), {})
    urls, license = _get(project, "urls"), project.get("license")
    supported = _read_classifiers(project.get("classifiers", []))
    node = {
        "name": tool.get("DisplayName"),
        "icon": tool.get("Icon"),
        "banner_url": tool.get("Banner"),
        "description": project.get("description"),
        "repository": urls.get("Repository") or urls.get("repository"),
        "license": json.dumps(license, separators=(",", ":"))
        if isinstance(license, dict)
        else license,
        **supported,
    }
    return Project(
        node_id,
        tool.get("PublisherId"),
        {name: value for name, value in node.items() if value not in (None, "")},
        {"version": version, "dependencies": project.get("dependencies", []), **supported},
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


def pack_folder(folder: Path, archive: Path, deadline: Deadline | None = None) -> None:
    """Zips a folder, its files at the top of the archive; the same files give the same bytes."""
    left = (deadline or Deadline()).left
    files = _list_files(folder)
    if not files:
        raise PackError(f"{folder} has no files to publish")
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zip:
        for name in files:
            # The first day that a zip can name.
            member = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = 0o100644 << 16
            with (folder / name).open("rb") as source, zip.open(member, "w") as target:
                while left() and (chunk := source.read(1 << 20)):
                    target.write(chunk)


def _list_files(folder: Path) -> list[str]:
    """Lists what is published, in the order of the names. Links and what git ignores are left out."""
    ignored = _list_ignored(folder)
    files: list[str] = []
    for place, folders, names in os.walk(folder):
        below = Path(place).relative_to(folder)

        def is_published(name: str, place: str = place, below: Path = below) -> bool:
            path = (below / name).as_posix()
            is_link = (Path(place) / name).is_symlink()
            return not (is_link or path in ignored or _LEFT_OUT.fullmatch(name))

        folders[:] = filter(is_published, folders)
        files += [(below / name).as_posix() for name in names if is_published(name)]
    return sorted(name for name in files if (folder / name).is_file())


def _list_ignored(folder: Path) -> set[str]:
    """Lists what a .gitignore names, folders without their content; nothing where there is no git."""
    options = ["--others", "--ignored", "--exclude-standard", "--directory", "-z"]
    try:
        command = ["git", "ls-files", *options]
        listed = subprocess.run(command, cwd=folder, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return set()
    return {os.fsdecode(path).rstrip("/") for path in listed.split(b"\0")}
