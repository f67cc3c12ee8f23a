"""Writes `types.py` and `_sync` of the Python client: `generate.py <document> <folder of the package>`.

The types are those of the service's document, as dictionaries; the client without `async` is made from that with it.
"""

import sys
from pathlib import Path

import unasync
from datamodel_code_generator.__main__ import main as generate_types

TYPES = [
    "--input-file-type=openapi",
    "--output-model-type=typing.TypedDict",
    "--target-python-version=3.11",
    "--enum-field-as-literal=all",
    "--collapse-root-models",
    "--use-union-operator",
    "--use-standard-collections",
    "--disable-future-imports",
    "--disable-timestamp",
    "--formatters=builtin",
    '--custom-file-header="""Bodies of requests and responses, made from the document of the service."""',
]

# Beside what unasync knows: `await`, `async with` and the like.
NAMES = {
    "AsyncKiln": "Kiln",
    "AsyncHttp": "Http",
    "AsyncFollower": "Follower",
    "AsyncRegistry": "Registry",
    "_AsyncBulks": "_Bulks",
    "AsyncBatches": "Batches",
    "AsyncOperations": "Operations",
    "AsyncRoutes": "Routes",
    "AsyncTasks": "Tasks",
    "AsyncEvents": "Events",
    "AsyncEndpoints": "Endpoints",
    "AsyncSecrets": "Secrets",
    "AsyncTemplates": "Templates",
    "AsyncClient": "Client",
    "async_call": "call",
    "async_sleep": "sleep",
    "aclose": "close",
    "aclosing": "closing",
    "aiter_bytes": "iter_bytes",
    "aiter_sse": "iter_sse",
    "aiter_text": "iter_text",
    "aread": "read",
}


def main(document: str, package: str) -> None:
    if generate_types(["--input", document, "--output", f"{package}/types.py", *TYPES]) != 0:
        raise SystemExit("the types cannot be generated")
    source, target = f"{package}/_async/", f"{package}/_sync/"
    rule = unasync.Rule(source, target, additional_replacements=NAMES)
    unasync.unasync_files([str(path) for path in Path(source).glob("*.py")], [rule])


main(*sys.argv[1:])
