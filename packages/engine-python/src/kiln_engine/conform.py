"""Reports line by line what an engine does right and wrong: `python -m kiln_engine conform URL`."""

import argparse
import json
import os
import threading
import time
import typing as t
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.error import HTTPError
from urllib.request import Request, urlopen
from uuid import uuid4

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR42mNIaFiAFTEMLQkAcvNgAemLasgAAAAASUVORK5CYII="
EXAMPLES = {"string": "a", "boolean": False, "object": {}, "integer": 1, "number": 1}
WRONG = {"string": 1, "boolean": "x", "object": 1, "integer": "x", "number": "x", "array": 1}
Body = dict[str, t.Any]
Response = tuple[int, Body]
parser = argparse.ArgumentParser("python -m kiln_engine conform")
parser.add_argument("url", help="such as http://127.0.0.1:5000")
parser.add_argument("--token", default=os.environ.get("KILN_ENGINE_TOKEN"))
parser.add_argument("--input", type=json.loads, default={}, help="members of an input, as JSON")
parser.add_argument("--slow", type=json.loads, help="those that make it run for some seconds")
parser.add_argument("--seconds", type=float, default=60, help="that a prediction may take")
parser.add_argument("--callback", help="this machine as the engine sees it: http://host:port")


class Hook(BaseHTTPRequestHandler):
    """Receives webhooks by their path. The first one of an end gets 503."""

    got: t.ClassVar[defaultdict[str, list[Body]]] = defaultdict(list)
    changed = threading.Condition()

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.changed:
            self.got[self.path].append(body)
            self.changed.notify_all()
        self.send_response(503 if ends_of(self.path) == [body] else 200)
        self.end_headers()


def ends_of(path: str) -> list[Body]:
    return [it for it in Hook.got[path] if it.get("status") in ("succeeded", "failed", "canceled")]


class Trial:
    def __init__(self, args: argparse.Namespace, callback: str) -> None:
        self.args, self.callback, self.wrong = args, callback, 0
        self.schemas: Body = {}

    def say(self, is_right: bool, what: str, found: t.Any = "") -> None:
        self.wrong += not is_right
        print(f"right  {what}" if is_right else f"WRONG  {what}: {found}"[:300], flush=True)

    def ask(self, route: str, body: t.Any = None, prefer: str = "", token: str = "") -> Response:
        method, path = route.split(" ")
        data = body if isinstance(body, bytes) else body and json.dumps(body).encode()
        headers = {"Content-Type": "application/json", "Prefer": prefer}
        headers |= {"Authorization": f"Bearer {token or self.args.token}"}
        request = Request(self.args.url.rstrip("/") + path, data, headers, method=method)
        try:
            response = urlopen(request, timeout=self.args.seconds)
        except HTTPError as error:
            response = error
        with response:
            text, status = response.read().decode(errors="replace"), response.status
        try:
            return status, dict(json.loads(text))
        except (ValueError, TypeError):
            return status, {"text": text}

    def start(self, id: str, given: Body, **more: t.Any) -> Response:
        """Starts a prediction whose webhooks have its id as their path."""
        body = {"input": given, "webhook": f"{self.callback}/{id}"} | more
        return self.ask(f"PUT /predictions/{id}", body, "respond-async")

    def wait_for_end(self, id: str) -> list[Body]:
        """Waits for both attempts at the last webhook, and for a place."""
        with Hook.changed:
            Hook.changed.wait_for(lambda: len(ends_of(f"/{id}")) > 1, self.args.seconds)
        self.wait_for_place()
        return ends_of(f"/{id}")

    def wait_for_place(self) -> None:
        until, status = time.monotonic() + self.args.seconds, "BUSY"
        while status in ("STARTING", "BUSY") and time.monotonic() < until:
            status = self.ask("GET /health-check")[1].get("status", "")
            time.sleep(0.1)
        self.say(status == "READY", "GET /health-check says READY", status)

    def run(self) -> None:
        self.wait_for_place()
        document = self.ask("GET /openapi.json")[1]
        self.schemas = document.get("components", {}).get("schemas", {})
        members = self.schemas.get("Input", {}).get("properties", {})
        required = self.schemas.get("Input", {}).get("required", [])
        self.say("Output" in self.schemas, "there are schemas of Input and Output", document)
        given = {name: self.example(members[name]) for name in required} | self.args.input
        if required:
            self.expect([422], "422 for an empty input", "POST /predictions", {"input": {}})
        self.reject(given, {name: self.spoil(it) for name, it in members.items()})
        end = self.ask("POST /predictions", {"input": given})
        self.say(end[0] == 200 and self.fits(end[1]), "POST responds with the output", end)
        # Some give the place free only after their response.
        self.wait_for_place()
        response = self.start(few := uuid4().hex, given, webhook_events_filter=["completed"])
        self.say(response[0] == 202, "202 with Prefer: respond-async", response)
        ends = self.wait_for_end(few)
        self.say(any(map(self.fits, ends)), "the last webhook has the output", ends)
        self.say(len(ends) == 2, "it is sent again after 503", ends)
        self.say(Hook.got[f"/{few}"] == ends, "webhook_events_filter is heeded", Hook.got)
        if self.args.slow is not None:
            self.overlap(given | self.args.slow)

    def overlap(self, slow: Body) -> None:
        """Tries what concerns a prediction that runs."""
        self.start(id := uuid4().hex, slow)
        again, other = self.start(id, slow), self.start(f"{id}-other", slow)[0]
        self.say((again[0], again[1].get("id")) == (202, id), "202 for the same PUT again", again)
        # Some run several at once.
        found = other, self.ask("GET /health-check")[1].get("status")
        self.say(other == 202 or found == (409, "BUSY"), "409 for another one, and BUSY", found)
        self.expect([200], "200 for a cancellation", f"POST /predictions/{id}/cancel")
        self.ask(f"POST /predictions/{id}-other/cancel")
        states = [end["status"] for end in self.wait_for_end(id)]
        self.say(states == ["canceled"] * 2, "its end is canceled, and it ran once", states)
        first = Hook.got[f"/{id}"][:1]
        self.say(
            first != [] and first[0] not in ends_of(f"/{id}"), "a webhook reports its start", first
        )

    def reject(self, given: Body, spoilt: Body) -> None:
        """Tries what is to be rejected."""
        for name, value in spoilt.items():
            if value is not None:
                response = self.ask("POST /predictions", {"input": given | {name: value}})
                is_right = response[0] == 422 and isinstance(response[1].get("detail"), list)
                self.say(is_right, f"422 with detail for {name} {value}", response)
        body = {"id": "b", "input": given}
        self.expect([422], "422 for another id in the body", "PUT /predictions/a", body)
        self.expect(range(400, 500), "4xx for what is not JSON", "POST /predictions", b"{")
        self.expect([404], "404 for a cancellation of nothing", "POST /predictions/never/cancel")
        if self.args.token:
            self.expect([401], "401 for a wrong token", "GET /openapi.json", None, "", "wrong")

    def expect(self, statuses: t.Collection[int], what: str, *request: t.Any) -> None:
        response = self.ask(*request)
        self.say(response[0] in statuses, what, response)

    def resolve(self, schema: Body) -> Body:
        for part in schema.get("allOf", []):
            schema = schema | self.resolve(part)
        name = schema.get("$ref", "").rpartition("/")[2]
        return self.resolve(self.schemas[name]) if name else schema

    def example(self, schema: Body) -> t.Any:
        schema = self.resolve(schema)
        if schema.get("type") == "array":
            return [self.example(schema["items"])]
        some = schema.get("minimum", schema.get("maximum", EXAMPLES.get(schema.get("type", ""))))
        link = f"data:image/png;base64,{PNG}"
        return link if schema.get("format") == "uri" else schema.get("enum", [some])[0]

    def spoil(self, schema: Body) -> t.Any:
        """Returns a value that does not fit; None where each may."""
        schema = self.resolve(schema)
        return schema["maximum"] + 1 if "maximum" in schema else WRONG.get(schema.get("type", ""))

    def fits(self, end: Body) -> bool:
        schema, made = self.resolve(self.schemas.get("Output", {})), end.get("output")
        files = made if isinstance(made, list) else [made]
        is_file = self.resolve(schema.get("items", schema)).get("format") == "uri"
        fit = not is_file or all(str(it).startswith(("data:", "http")) for it in files)
        return fit and made is not None and end.get("status") == "succeeded"


def main(arguments: list[str]) -> int:
    args = parser.parse_args(arguments)
    host, port = (
        ("0.0.0.0", int(args.callback.split(":")[2])) if args.callback else ("127.0.0.1", 0)
    )
    hooks = ThreadingHTTPServer((host, port), Hook)
    threading.Thread(target=hooks.serve_forever, daemon=True).start()
    trial = Trial(args, args.callback or f"http://127.0.0.1:{hooks.server_port}")
    try:
        trial.run()
    except OSError as error:
        trial.say(False, f"{args.url} responds", error)
    return 1 if trial.wrong else 0
