"""Runs one prediction at a time in the main thread, where a signal can end it."""

import io
import json
import signal
import sys
import tempfile
import threading
import time
import traceback
import typing as t
from contextlib import redirect_stderr, redirect_stdout
from http.client import HTTPException
from pathlib import Path
from queue import Empty, SimpleQueue
from urllib.request import Request, urlopen

from .signature import Final, Signature

# Attempts at the last webhook, and least seconds between two webhooks of logs, as in cog.
ATTEMPTS, LOGS_SECONDS = 13, 0.5
LOG_CHARACTERS = 100_000


class Cancelled(BaseException):
    """Is raised in a function whose prediction was cancelled. Let it pass, or raise it again."""


class Prediction(io.TextIOBase):
    """A call and what becomes of it. What the function prints is written to it."""

    def __init__(self, id: str, values: dict[str, t.Any], events: list[str]) -> None:
        self.id, self.values, self.events = id, values, events
        self.state: dict[str, t.Any] = {"id": id, "status": "starting", "logs": ""}
        self.is_cancelled, self.ended, self.sent_at = False, threading.Event(), 0.0
        self.webhooks: SimpleQueue[tuple[int, bytes]] = SimpleQueue()

    def write(self, text: str) -> int:
        print(text, end="", file=sys.__stderr__)
        self.state["logs"] = (self.state["logs"] + text)[-LOG_CHARACTERS:]
        if time.monotonic() - self.sent_at > LOGS_SECONDS:
            self.sent_at = time.monotonic()
            self.report("logs")
        return len(text)

    def report(self, event: str, **changes: t.Any) -> None:
        self.state = self.state | changes
        if event in self.events:
            attempts = ATTEMPTS if event == "completed" else 1
            self.webhooks.put((attempts, json.dumps(self.state).encode()))

    def send_webhooks(self, url: str) -> None:
        """Sends them in their order, until there are no more."""
        for attempts, body in iter(self.webhooks.get, (0, b"")):
            for attempt in range(1, attempts + 1):
                try:
                    request = Request(url, body, {"Content-Type": "application/json"})
                    urlopen(request, timeout=30).close()
                    break
                except (OSError, ValueError, HTTPException) as error:
                    if getattr(error, "code", 503) not in (429, 500, 502, 503, 504):
                        break
                    time.sleep(0.1 * 2 ** min(attempt, 10))


class Runner:
    def __init__(self, signature: Signature) -> None:
        self.signature, self.lock, self.is_inside = signature, threading.Lock(), False
        self.queue: SimpleQueue[Prediction] = SimpleQueue()
        self.current: Prediction | None = None

    def start(self, prediction: Prediction, webhook: str | None) -> Prediction:
        """Returns the one that runs: this one, unless another does."""
        with self.lock:
            if self.current is not None:
                return self.current
            self.current = prediction
        if webhook is not None:
            threading.Thread(target=prediction.send_webhooks, args=(webhook,), daemon=True).start()
        self.queue.put(prediction)
        return prediction

    def cancel(self, id: str) -> bool:
        """Returns false when no such one runs."""
        with self.lock:
            if self.current is None or self.current.id != id:
                return False
            self.current.is_cancelled = True
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)
        return True

    def run(self) -> None:
        """Runs what is started, until the process is stopped."""
        signal.signal(signal.SIGUSR1, self.interrupt)
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        while True:
            try:
                # A signal that comes just before a wait is heard after it.
                prediction = self.queue.get(timeout=1)
            except Empty:
                continue
            # What the function makes by tempfile is removed with the files of its input.
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                tempfile.tempdir = folder
                end = self.call(prediction, Path(folder))
                tempfile.tempdir = None
            with self.lock:
                # Before anybody knows of the end, so that the next one is not rejected.
                self.current = None
            prediction.report(
                "completed", **({"status": "canceled"} if prediction.is_cancelled else end)
            )
            prediction.webhooks.put((0, b""))
            prediction.ended.set()

    def call(self, prediction: Prediction, folder: Path) -> dict[str, t.Any]:
        began = time.monotonic()
        prediction.report("start", status="processing")
        try:
            try:
                self.is_inside = True
                self.interrupt()
                with redirect_stdout(prediction), redirect_stderr(prediction):
                    output = self.signature.call(prediction.values, folder)
                    json.dumps(output, allow_nan=False)
            finally:
                self.is_inside = False
            prediction.report("output", output=output)
            return {"status": "succeeded", "metrics": {"predict_time": time.monotonic() - began}}
        except Cancelled:
            return {}
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it raises
            prediction.write(traceback.format_exc())
            name = Final.__name__ if isinstance(error, Final) else type(error).__name__
            return {"status": "failed", "error": f"{name}: {error}"}

    def interrupt(self, *_: object) -> None:
        # Raises once, and only where `call` catches it.
        if self.is_inside and self.current and self.current.is_cancelled:
            self.is_inside = False
            raise Cancelled
