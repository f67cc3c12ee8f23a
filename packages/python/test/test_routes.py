"""Methods of both clients, by what they send and return."""

import inspect
import json
import re
from functools import reduce
from pathlib import Path

import httpx
import pytest

from kiln_client import AsyncKiln

SHARED = Path(__file__).parents[2] / "client/test/shared"
CALLS = json.loads((SHARED / "routes.json").read_text())


def name_of(case):
    return case["python"][0]


@pytest.mark.parametrize("case", CALLS, ids=name_of)
def test_a_method_sends_and_returns_what_that_of_typescript_does(case, kiln_of):
    name, arguments, options = case["python"]
    kiln, seen = kiln_of(httpx.Response(200, json=case["response"]))
    returned = reduce(getattr, name.split("."), kiln)(*arguments, **options)
    if inspect.isgenerator(returned):
        returned = list(returned)
    assert len(seen) == 1
    sent = f"{seen[0].method} {seen[0].url.raw_path.decode()}"
    assert sent == case["request"]
    assert json.loads(seen[0].content or "null") == case.get("body")
    if "result" in case:
        assert returned == case["result"]


def test_a_list_is_read_page_by_page_and_ends_with_its_limit(kiln_of):
    pages = [
        {"tasks": list(range(100)), "next": "a"},
        {"tasks": [], "next": "b"},
        {"tasks": [100], "next": "c"},
    ]
    kiln, seen = kiln_of(*(httpx.Response(200, json=page) for page in pages))
    assert list(kiln.tasks.list(state=["done"], limit=101)) == list(range(101))
    queries = [request.url.query.decode() for request in seen]
    assert queries == [
        "state=done&limit=100",
        "state=done&after=a&limit=1",
        "state=done&after=b&limit=1",
    ]


def test_a_list_of_none_asks_for_nothing(kiln_of):
    kiln, seen = kiln_of()
    for items in (
        kiln.tasks.list(limit=0),
        kiln.events.list(limit=0),
        kiln.endpoints.events("p", limit=0),
        kiln.batches.list(limit=0),
        kiln.operations.list(limit=0),
    ):
        assert list(items) == []
    assert seen == []


def test_the_events_of_an_endpoint_go_on_before_the_last_of_a_full_page(kiln_of):
    pages = [[{"id": f"e{at}"} for at in range(100)], [{"id": "last"}]]
    kiln, seen = kiln_of(*(httpx.Response(200, json={"events": page}) for page in pages))
    assert len(list(kiln.endpoints.events("p"))) == 101
    assert seen[1].url.query.decode() == "before=e99&limit=100"


def test_the_table_of_the_clients_names_methods():
    page = (SHARED.parents[3] / "docs/client.md").read_text(encoding="utf-8")
    table = page.split("<!-- begin clients -->")[1].split("<!-- end clients -->")[0]
    cells = [line.split("|")[3] for line in table.splitlines() if line.startswith("| `")]
    names = {name for cell in cells for name in re.findall(r"`([\w.]+)`", cell)}
    assert len(names) > 40
    kiln = AsyncKiln("http://kiln.test")
    for name in names:
        assert callable(reduce(getattr, name.split("."), kiln)), name
