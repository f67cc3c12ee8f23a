"""Speaks cog's HTTP API."""

import hmac
import json
import re
import select
import typing as t
from http.server import BaseHTTPRequestHandler
from urllib.parse import unquote
from uuid import uuid4

from .runner import Prediction, Runner

# As that of cog.
BODY_BYTES = 100 * 1024 * 1024
EVENTS = ["start", "output", "logs", "completed"]


class Handler(BaseHTTPRequestHandler):
    runner: Runner
    token: str | None
    protocol_version, timeout = "HTTP/1.1", 60

    def log_message(self, *_: object) -> None:
        """Says nothing: what is printed is in the logs of a prediction."""

    def respond(self) -> None:
        status, body = self.handle_route()
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if status in (401, 413):
            # The body was not read.
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PUT = respond

    def handle_route(self) -> tuple[int, t.Any]:
        route = f"{self.command} {self.path.partition('?')[0]}"
        length = self.headers.get("Content-Length", "0")
        given = self.headers.get("Authorization", "").encode()
        if route == "GET /health-check":
            return 200, {"status": "BUSY" if self.runner.current else "READY"}
        if self.token and not hmac.compare_digest(given, f"Bearer {self.token}".encode()):
            return 401, {"error": "the token is missing or wrong"}
        if route == "GET /openapi.json":
            return 200, self.runner.signature.document
        chunked = "Transfer-Encoding" in self.headers
        if chunked or not length.isdecimal() or int(length) > BODY_BYTES:
            return 413, {"error": f"a body has a Content-Length, of at most {BODY_BYTES}"}
        data = self.rfile.read(int(length))
        if match := re.fullmatch("POST /predictions/([^/]+)/cancel", route):
            return (200 if self.runner.cancel(unquote(match[1])) else 404), {}
        if match := re.fullmatch("POST /predictions()|PUT /predictions/([^/]+)", route):
            return self.predict(unquote(match[2] or ""), data)
        return 404, {"error": f"there is no {route}"}

    def predict(self, named: str, data: bytes) -> tuple[int, t.Any]:
        """Responds to a prediction, with the id in the address where there is one."""
        # A page of another origin cannot send this type unasked.
        if self.headers.get_content_type() != "application/json":
            return 415, {"error": "a body is application/json"}
        try:
            body = json.loads(data)
        except (ValueError, RecursionError):
            return 400, {"error": "the body is not JSON"}
        body = body if isinstance(body, dict) else {"input": body}
        id, events = body.get("id", named or uuid4().hex), body.get("webhook_events_filter", EVENTS)
        values, wrong = self.runner.signature.read(body.get("input") or {})
        webhook = body.get("webhook") or None
        if not isinstance(id, str) or (named and id != named):
            wrong.append((["id"], "prediction ID must match the ID supplied in the URL"))
        if not re.match("https?://", str(webhook or "http://")):
            wrong.append((["webhook"], "is not an http(s) link"))
        if not isinstance(events, list) or any(event not in EVENTS for event in events):
            wrong.append((["webhook_events_filter"], f"is not a list of {', '.join(EVENTS)}"))
        if wrong:
            issues = [{"loc": ["body", *place], "msg": text} for place, text in wrong]
            return 422, {"detail": [issue | {"type": "value_error"} for issue in issues]}
        prediction = Prediction(id, values, events if webhook else [])
        running = self.runner.start(prediction, webhook)
        if running is not prediction:
            same = running.id == named
            return (202, running.state) if same else (409, {"error": "another prediction runs"})
        if "respond-async" in self.headers.get("Prefer", ""):
            return 202, {"id": id, "status": "starting"}
        while not prediction.ended.wait(0.25):
            # Something to read before the response is the end of the connection.
            if select.select([self.connection], [], [], 0)[0]:
                self.runner.cancel(id)
                raise ConnectionError
        return 200, prediction.state
