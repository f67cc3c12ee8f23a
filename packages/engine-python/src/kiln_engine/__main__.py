"""Runs `python -m kiln_engine my.py`, or `python -m kiln_engine conform http://…`."""

import argparse
import importlib
import os
import sys
from http.server import ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from . import conform
from .runner import Runner
from .server import Handler
from .signature import Signature

parser = argparse.ArgumentParser("python -m kiln_engine")
parser.add_argument("file", help="where an @engine is; file.py:function where several are")
parser.add_argument("--host", default="127.0.0.1")
parser.add_argument("--port", type=int, default=5000)
parser.add_argument("--token", default=os.environ.get("KILN_ENGINE_TOKEN"))


class Server(ThreadingHTTPServer):
    daemon_threads, request_queue_size = True, 128

    def handle_error(self, *_: object) -> None:
        """Says nothing of callers that left."""


def main() -> None:
    args = parser.parse_args()
    path, _, name = args.file.partition(":")
    if not Path(path).is_file():
        parser.error(f"{path} is not a file")
    sys.path.insert(0, str(Path(path).resolve().parent))
    members = vars(importlib.import_module(Path(path).stem)).items()
    names = [key for key, it in members if hasattr(it, "is_kiln_engine")]
    found = [it for key, it in members if key in names and key == (name or key)]
    if len(found) != 1:
        if not names:
            parser.error(f"{path} has no function with @engine")
        parser.error(f"{path} has {', '.join(names)} with @engine: give one of them, as {path}:…")
    try:
        Handler.runner, Handler.token = Runner(Signature(found[0])), args.token
        server = Server((args.host, args.port), Handler)
        print(f"Listening on http://{args.host}:{server.server_port}", flush=True)
        Thread(target=server.serve_forever, daemon=True).start()
        Handler.runner.run()
    except TypeError as error:
        parser.error(str(error))
    except OSError as error:
        parser.error(f"{error} (--host {args.host} --port {args.port})")
    except KeyboardInterrupt:
        pass


if sys.argv[1:2] == ["conform"]:
    sys.exit(conform.main(sys.argv[2:]))
main()
