"""Tells line by line what an engine does right and wrong: `python -m kiln_engine conform URL`."""

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
parser = argparse.ArgumentParser("python -m kiln_engine conform")
parser.add_argument("url", help="such as http://127.0.0.1:5000")
parser.add_argument("--token", default=os.environ.get("KILN_ENGINE_TOKEN"))
parser.add_argument("--input", type=json.loads, default={}, help="members of an input, as JSON")
parser.add_argument("--slow", type=json.loads, help="those that make it run for some seconds")
parser.add_argument("--seconds", type=float, default=60, help="that a prediction may take")
parser.add_argument("--callback", help="this machine as the engine sees it: http://host:port")


class Hook(BaseHTTPRequestHandler):
    """Receives webhooks by their path. The first one of an end is answered with 503."""

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

    def ask(self, route: str, body: t.Any = None, **headers: str) -> tuple[int, Body]:
        method, path = route.split(" ")
        data = body if isinstance(body, bytes) else body and json.dumps(body).encode()
        if self.args.token:
            headers = {"Authorization": f"Bearer {self.args.token}"} | headers
        headers |= {"Content-Type": "application/json"}
        request = Request(self.args.url.rstrip("/") + path, data, headers, method=method)
        try:
            answer = urlopen(request, timeout=self.args.seconds)
        except HTTPError as error:
            answer = error
        with answer:
            text, status = answer.read().decode(errors="replace"), answer.status
        try:
            return status, dict(json.loads(text))
        except (ValueError, TypeError):
            return status, {"text": text}

    def start(self, id: str, given: Body, **more: t.Any) -> tuple[int, Body]:
        """Starts a prediction whose webhooks have its id as their path."""
        body = {"input": given, "webhook": f"{self.callback}/{id}"} | more
        return self.ask(f"PUT /predictions/{id}", body, Prefer="respond-async")

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
        self.refuse(given, required, {name: self.spoil(it) for name, it in members.items()})

        end = self.ask("POST /predictions", {"input": given})
        self.say(end[0] == 200 and self.fits(end[1]), "POST responds with the output", end)
        answer = self.start(few := uuid4().hex, given, webhook_events_filter=["completed"])
        self.say(answer[0] == 202, "202 with Prefer: respond-async", answer)
        ends = self.wait_for_end(few)
        self.say(len(ends) == 2, "the last webhook comes, and again after 503", ends)
        self.say(ends != [] and self.fits(ends[0]), "the last webhook has the output", ends)
        self.say(Hook.got[f"/{few}"] == ends, "webhook_events_filter is heeded", Hook.got)
        if self.args.slow is None:
            print("       untried for want of --slow: the same PUT again, 409, cancellation")
            return

        slow = given | self.args.slow
        self.start(id := uuid4().hex, slow)
        again, other = self.start(id, slow), self.start(f"{id}-other", slow)
        health = self.ask("GET /health-check")[1].get("status")
        same = again[0] == 202 and again[1].get("id") == id
        self.say(same, "202 and the prediction for the same PUT again", again)
        # Some run several at once.
        self.say(other[0] in (202, 409), "409 for another one while it runs", other)
        self.say(other[0] == 202 or health == "BUSY", "GET /health-check says BUSY", health)
        cancelled = [self.ask(f"POST /predictions/{it}/cancel")[0] for it in (id, f"{id}-other")]
        self.say(cancelled[0] == 200, "200 for a cancellation", cancelled)
        states = [end["status"] for end in self.wait_for_end(id)]
        self.say(states == ["canceled"] * 2, "its end is canceled, and it ran once", states)
        first = (Hook.got[f"/{id}"] or [{}])[0].get("status")
        self.say(first in ("starting", "processing"), "a webhook tells of the start", first)

    def refuse(self, given: Body, required: list[str], spoilt: Body) -> None:
        """Tries what is to be refused."""
        inputs = [given | {name: it} for name, it in spoilt.items() if it is not None]
        for input in [dict[str, t.Any]()] * bool(required) + inputs:
            answer = self.ask("POST /predictions", {"input": input})
            is_right = answer[0] == 422 and isinstance(answer[1].get("detail"), list)
            shown = [f"{name} {it}" for name, it in input.items() if it != given.get(name)]
            self.say(is_right, f"422 with detail for an input with {shown or 'nothing'}", answer)
        answer = self.ask("PUT /predictions/a", {"id": "b", "input": given})
        self.say(answer[0] == 422, "422 where the id of the body is not the address's", answer)
        answer = self.ask("POST /predictions", b"{")
        self.say(400 <= answer[0] < 500, "4xx for a body that is not JSON", answer)
        answer = self.ask("POST /predictions/never/cancel")
        self.say(answer[0] == 404, "404 for the cancellation of what does not run", answer)
        if self.args.token:
            answer = self.ask("GET /openapi.json", Authorization="Bearer wrong")
            self.say(answer[0] == 401, "401 for a wrong token", answer)

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
    _, _, port = (args.callback or "").rpartition(":")
    hooks = ThreadingHTTPServer(("0.0.0.0" if port else "127.0.0.1", int(port or 0)), Hook)
    threading.Thread(target=hooks.serve_forever, daemon=True).start()
    trial = Trial(args, args.callback or f"http://127.0.0.1:{hooks.server_port}")
    try:
        trial.run()
    except OSError as error:
        trial.say(False, f"{args.url} responds", error)
    return 1 if trial.wrong else 0
