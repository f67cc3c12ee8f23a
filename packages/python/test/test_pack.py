"""What both clients of the repository read and leave out alike, and webhooks that both verify."""

import json
import re
import subprocess
import zipfile
from pathlib import Path

import pytest

from kiln_client import ArgumentError, PackError, WebhookError, verify_webhook
from kiln_client.deadline import Deadline
from kiln_client.pack import _LEFT_OUT, pack_folder, read_project

SHARED = Path(__file__).parents[2] / "client/test/shared"


def read_shared(name):
    return json.loads((SHARED / name).read_text(encoding="utf-8"))


WEBHOOKS = read_shared("webhooks.json")


@pytest.mark.parametrize("case", WEBHOOKS["cases"], ids=lambda case: case["name"])
def test_a_webhook_is_verified(case, monkeypatch):
    monkeypatch.setattr("time.time", lambda: WEBHOOKS["now"])
    secrets, headers, body = case["secrets"], case["headers"], case["body"]
    if "error" in case:
        with pytest.raises(WebhookError) as caught:
            verify_webhook(secrets, headers, body.encode())
        assert caught.value.code == case["error"]
        return
    upper = {name.title(): value for name, value in headers.items()}
    for event in (
        verify_webhook(secrets, headers, body.encode()),
        verify_webhook(secrets, upper, body),
    ):
        given = {**vars(event), "sent_at": event.sent_at.timestamp()}
        assert given == case["event"]


def test_a_secret_that_is_none_is_an_error_of_the_caller():
    case = WEBHOOKS["cases"][0]
    for secrets in ("whsec_%", f"{case['secrets'][0]}\n", "", None, [], [None]):
        with pytest.raises(ArgumentError, match="^secrets must") as caught:
            verify_webhook(secrets, {}, case["body"])
        assert case["secrets"][0] not in str(caught.value)


@pytest.mark.parametrize("case", read_shared("projects.json"))
def test_a_pack_is_described_by_its_pyproject(case, tmp_path):
    (tmp_path / "pyproject.toml").write_text(case["toml"], encoding="utf-8")
    if "error" in case:
        with pytest.raises(PackError, match=re.escape(case["error"])):
            read_project(tmp_path)
        return
    project, expected = read_project(tmp_path), case["project"]
    assert project.node_id == expected["nodeId"]
    assert project.publisher_id == expected["publisherId"]
    assert (project.node, project.version) == (expected["node"], expected["version"])
    assert list(project.includes) == expected["includes"]


def test_a_folder_without_a_project_is_no_pack(tmp_path):
    with pytest.raises(PackError, match="pyproject.toml, which a pack must have, cannot be read"):
        read_project(tmp_path)


def test_names_are_left_out_alike():
    names = read_shared("left-out.json")
    assert [name for name in names["leftOut"] if not _LEFT_OUT.fullmatch(name)] == []
    assert [name for name in names["published"] if _LEFT_OUT.fullmatch(name)] == []


def test_a_folder_is_zipped_without_secrets_caches_links_and_what_git_ignores(tmp_path):
    folder = tmp_path / "pack"
    for name, text in {
        "pyproject.toml": "",
        "nodes/a.py": "a = 1\n",
        "nodes/__pycache__/a.cpython-312.pyc": "",
        ".env": "SECRET=1",
        ".env.example": "SECRET=",
        "models/big.bin": "large",
        ".gitignore": "models/\n",
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    (folder / "passwd").symlink_to("/etc/passwd")
    (folder / "linked").symlink_to(folder / "nodes")
    archives = [tmp_path / "one.zip", tmp_path / "two.zip"]
    for archive in archives:
        pack_folder(folder, archive)
    with zipfile.ZipFile(archives[0]) as zip:
        assert zip.namelist() == [".env.example", ".gitignore", "nodes/a.py", "pyproject.toml"]
        assert zip.read("nodes/a.py") == b"a = 1\n"
    assert archives[0].read_bytes() == archives[1].read_bytes()
    (tmp_path / "empty").mkdir()
    with pytest.raises(PackError, match="no files"):
        pack_folder(tmp_path / "empty", tmp_path / "three.zip")


@pytest.mark.parametrize("is_repository", [True, False])
def test_includes_and_comfyignore_decide_what_is_packed(tmp_path, is_repository):
    case = read_shared("packed.json")
    folder = tmp_path / "pack"
    for name, text in case["files"].items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    if is_repository:
        subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
        subprocess.run(["git", "add", "notes.md"], cwd=folder, check=True)
    pack_folder(folder, tmp_path / "a.zip", includes=case["includes"])
    with zipfile.ZipFile(tmp_path / "a.zip") as zip:
        outside = [] if is_repository else case["outside_git"]
        assert zip.namelist() == sorted([*case["packed"], *outside])
    with pytest.raises(PackError, match="includes names dist, of which no file is there"):
        pack_folder(folder, tmp_path / "b.zip", includes=["dist"])


def test_a_folder_is_not_zipped_where_git_cannot_say_what_is_ignored(tmp_path):
    (tmp_path / ".git").write_text("gitdir: nowhere\n")
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack/a.py").write_text("")
    message = r"^\.gitignore cannot be read by git, .*: fatal: not a git repository"
    with pytest.raises(PackError, match=message):
        pack_folder(tmp_path / "pack", tmp_path / "a.zip")


def test_a_folder_that_is_itself_ignored_is_zipped_by_its_own_patterns(tmp_path):
    (folder := tmp_path / "dist").mkdir()
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / ".gitignore").write_text("dist/\n")
    for name, text in {".gitignore": "b.*\n", "a.py": "", "b.py": ""}.items():
        (folder / name).write_text(text)
    pack_folder(folder, tmp_path / "a.zip")
    with zipfile.ZipFile(tmp_path / "a.zip") as zip:
        assert zip.namelist() == [".gitignore", "a.py"]


def test_a_folder_is_zipped_until_a_deadline(tmp_path):
    (tmp_path / "a.py").write_text("a = 1\n")
    with pytest.raises(TimeoutError):
        pack_folder(tmp_path, tmp_path / "pack.zip", Deadline(0))
