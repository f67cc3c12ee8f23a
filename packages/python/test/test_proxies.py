"""Both clients behind proxies that let nothing through for long, of which KILN_PROXIES names one of each kind."""

import json
import os
import uuid

import pytest

PROXIES = json.loads(os.environ.get("KILN_PROXIES", "{}"))

pytestmark = pytest.mark.skipif(not PROXIES, reason="KILN_PROXIES is not set")


@pytest.mark.parametrize("kind", PROXIES or ["none"])
def test_a_wait_leads_to_the_result_of_one_task(make, kind, monkeypatch):
    # A stream that is kept back shows by its silence.
    for client in ("_sync", "_async"):
        monkeypatch.setattr(f"kiln_client.{client}.http.STREAM_TIMEOUT", 0.5)
    kiln = make(PROXIES[kind], token=os.environ["KILN_TOKEN"], backoff=0.05)
    label = uuid.uuid4().hex
    short = {"model": "videoq2-turbo", "duration": 1, "resolution": "540p"}
    task = kiln.text_to_video(prompt="Sea", kiln_labels={"run": label}, **short)
    assert kiln.wait(task, timeout=600).state == "succeeded"
    found = kiln.request("GET", "/tasks", params={"label": f"run:{label}"}).json()
    assert [each["task_id"] for each in found["tasks"]] == [task.id]
    close = kiln.aclose if hasattr(kiln, "aclose") else kiln.close
    close()
