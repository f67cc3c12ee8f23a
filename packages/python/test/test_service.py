"""Both clients, and the examples of the README, against the service that KILN_URL names."""

import base64
import hashlib
import hmac
import json
import os
import re
import time
import uuid
from pathlib import Path

import pytest

from kiln_client import ConflictError, InvalidRequestError, NotFoundError

pytestmark = pytest.mark.skipif("KILN_URL" not in os.environ, reason="KILN_URL is not set")

ROOT = Path(__file__).parents[3]
PICTURE = ROOT / "samples/thumbnail.jpg"


@pytest.fixture
def kiln(make):
    made = make(os.environ["KILN_URL"], token=os.environ["KILN_TOKEN"])
    yield made
    if hasattr(made, "aclose"):
        made.aclose()
    else:
        made.close()


def test_a_task_of_a_file_ends_and_has_files(kiln, tmp_path):
    seen = []
    task = kiln.relight(image=PICTURE, prompt="sunset")
    ended = kiln.wait(task, on_progress=lambda task: seen.append(task.status))
    assert (ended.state, ended.error) == ("succeeded", None)
    assert seen[0] == "CREATED"
    kiln.save(ended.files[0].url, tmp_path / "out")
    assert (tmp_path / "out").read_bytes()[:3] == b"\xff\xd8\xff"
    assert [kiln.read(ref).state for ref in (task, task.id)] == ["succeeded", "succeeded"]
    with pytest.raises(ConflictError) as caught:
        kiln.cancel(task)
    assert caught.value.code == "cannot_cancel"
    assert kiln.wait(task.id).files[0].url
    for ref in (task, task.id):
        assert kiln.make_token(ref)["token"].startswith("kiln_task_")


def test_every_kind_of_task_is_made(kiln):
    link = kiln.upload(PICTURE.read_bytes())
    images = [
        kiln.upscale(image=link, scale_factor="2x"),
        kiln.upscale_precision(image=link, scale_factor=2),
        kiln.skin_flexible(image=link),
        kiln.skin_creative(image=link, sharpen=10),
        kiln.skin_faithful(image=link),
    ]
    short = {"duration": 1, "resolution": "540p"}
    videos = [
        kiln.text_to_video(prompt="Sea", model="videoq2-turbo", **short),
        kiln.image_to_video(images=[PICTURE], model="videoq2-turbo", **short),
        kiln.start_end_to_video(images=[PICTURE, PICTURE], model="videoq2-turbo", **short),
    ]
    ended = [kiln.wait(task) for task in [*images, *videos]]
    assert {task.state for task in ended} == {"succeeded"}
    source = ended[-1]
    longer = kiln.extend_video(
        model="videoq2-turbo", video_creation_id=source.id, video_url=source.files[0].url, **short
    )
    assert kiln.wait(longer).progress == 100


def test_a_batch_is_made_of_a_list_or_a_file_and_acted_on(kiln, tmp_path):
    link = kiln.upload(PICTURE)
    path = "/proxy/imgvendor/v1/ai/image-upscaler"
    requests = [{"path": path, "body": {"image": link}}, {"path": path, "body": {}}]
    (tmp_path / "requests.jsonl").write_text("\n".join(map(json.dumps, requests)))
    labels = {"run": uuid.uuid4().hex}
    seen = []
    for given in (requests, tmp_path / "requests.jsonl"):
        key = uuid.uuid4().hex
        batch = kiln.batches.create(given, labels=labels, idempotency_key=key)
        again = []
        options = {"labels": labels, "idempotency_key": key, "on_replay": again.append}
        assert kiln.batches.create(given, **options) == batch
        assert again[0].created_at
        ended = kiln.batches.wait(batch, on_progress=seen.append)
        assert (ended["state"], ended["total"]) == ("done", 2)
        assert (ended["counts"]["done"], ended["counts"]["rejected"]) == (1, 1)
        good, bad = kiln.batches.results(batch)
        assert kiln.read(good["task_id"]).state == "succeeded"
        assert bad["error"]["code"] == "validation_failed"
    assert {"counts", "state"} <= seen[0].keys()
    with pytest.raises(ConflictError):
        kiln.batches.cancel(batch)
    filter = {"label": [f"run:{labels['run']}"]}
    assert kiln.operations.count("delete", filter) == 2
    operation = kiln.operations.create("delete", filter, idempotency_key=labels["run"])
    assert kiln.operations.create("delete", filter, idempotency_key=labels["run"]) == operation
    assert kiln.operations.wait(operation)["counts"]["done"] == 2
    assert [line["state"] for line in kiln.operations.results(operation)] == ["done", "done"]
    usage = kiln.usage("kind", label=f"run:{labels['run']}")
    assert [(group["group"], group["tasks"]["done"]) for group in usage["groups"]] == [
        ("upscale", 2)
    ]


def test_labels_deadlines_and_order_are_members_of_a_creation(kiln):
    task = kiln.text_to_video(prompt="Sea", kiln_labels={"a": "b"}, kiln_end_within=600, priority=2)
    read = kiln.request("GET", f"/tasks/{task.id}").json()
    assert (read["labels"], read["priority"]) == ({"a": "b"}, 2)
    late = kiln.wait(kiln.relight(image=PICTURE, kiln_start_within=600, kiln_priority=-1))
    assert late.state == "succeeded"


def test_an_animation_is_warned_of_and_a_token_for_its_task_reads_it(kiln, make):
    frame = b"!\xf9\x04\0\x0a\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0"
    head = b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff"
    ended = kiln.wait(kiln.upscale(image=head + frame * 2 + b";"))
    assert (ended.state, ended.error) == ("succeeded", None)
    assert ended.warnings == ("/image is an animation of 2 frames: only the first is used",)
    page = make(os.environ["KILN_URL"], token=kiln.make_token(ended)["token"])
    for read in (page.read(ended.id), page.read(ended), page.wait(ended.id)):
        assert (read.state, read.warnings, len(read.files)) == ("succeeded", ended.warnings, 1)
    if hasattr(page, "aclose"):
        page.aclose()
    else:
        page.close()


def test_the_same_key_gives_the_same_task(kiln):
    link, key = kiln.upload(PICTURE), str(uuid.uuid4())
    first = kiln.skin_creative(image=link, idempotency_key=key)
    ended = kiln.wait(first)
    again = kiln.skin_creative(image=link, idempotency_key=key)
    assert (first.replayed, again.id, again.replayed.state) == (None, ended.id, "done")
    assert again.replayed.created_at < again.replayed.ended_at


def test_a_rejection_names_field_code_and_request(kiln):
    with pytest.raises(InvalidRequestError) as caught:
        kiln.relight(image=PICTURE, light_transfer_strength=400)
    error = caught.value
    assert (error.code, error.field) == ("validation_failed", "/light_transfer_strength")
    assert error.request_id
    with pytest.raises(NotFoundError) as missing:
        kiln.wait(str(uuid.uuid4()))
    assert missing.value.code == "task_not_found"


def test_a_pack_is_published_and_read(kiln, tmp_path, request):
    name = "python-" + request.node.callspec.id
    (tmp_path / "pyproject.toml").write_text(
        f'[project]\nname = "{name}"\nversion = "1.0.0"\ndescription = "Cups."\n'
        '[tool.host]\nPublisherId = "alice"\n'
    )
    mapping = 'class Cup:\n    RETURN_TYPES = ("IMAGE",)\nNODE_CLASS_MAPPINGS = {"Cup": Cup}\n'
    (tmp_path / "__init__.py").write_text(mapping)
    steps = []
    token = os.environ["KILN_PUBLISH_TOKEN"]
    checked = kiln.registry.check(tmp_path)
    assert (checked["status"], checked["version_free"]) == ("NodeVersionStatusActive", True)
    verdict = kiln.registry.publish(tmp_path, token=token, changelog="First.", on_step=steps.append)
    assert (verdict.state, verdict.reason) == ("active", "Passed automated checks")
    assert steps[:4] == ["packing", "publishing", "uploading", "Pending"]
    registry = kiln.registry
    assert registry.version(name, "1.0.0")["changelog"] == "First."
    assert registry.node(name)["description"] == "Cups."
    assert len(registry.versions(name)) == 1
    assert registry.install(name)["downloadUrl"]
    assert registry.findings(name, "1.0.0")["counts"]["high"] == 0
    assert name in [node["id"] for node in registry.search(search=name)["nodes"]]


def test_the_examples_of_the_readme_run(monkeypatch, tmp_path, capsys):
    page = (ROOT / "packages/python/README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 9
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    monkeypatch.chdir(tmp_path)
    key = os.urandom(32)
    monkeypatch.setenv("ENDPOINT_URL", "http://127.0.0.1:9/")
    monkeypatch.setenv("WEBHOOK_SECRET", f"whsec_{base64.b64encode(key).decode()}")
    names: dict = {"__name__": "examples"}
    exec("\n".join(blocks), names)  # noqa: S102
    assert (names["film"].state, names["verdict"].state) == ("succeeded", "active")
    assert len(names["urls"]) == 1
    assert isinstance(names["user"], dict)
    assert names["ended_batch"]["counts"]["done"] == 2
    assert (tmp_path / "relit.jpg").stat().st_size > 1000
    printed = capsys.readouterr().out
    assert "validation_failed /light_transfer_strength" in printed
    sent = str(int(time.time()))
    digest = hmac.digest(key, f"e.{sent}.{{}}".encode(), hashlib.sha256)
    headers = {
        "webhook-id": "e",
        "webhook-timestamp": sent,
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }
    assert names["receive"](headers, b"{}") == 204
    assert names["receive"](headers, b"{ }") == 401
    names["kiln"].close()
