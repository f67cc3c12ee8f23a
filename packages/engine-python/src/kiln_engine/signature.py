"""Reads the signature of a function: the document that it is served with, and its calls."""

import inspect
import json
import mimetypes
import re
import shutil
import sys
import typing as t
from base64 import b64encode
from collections.abc import Callable, Generator
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from types import NoneType, UnionType
from urllib.parse import urlsplit
from urllib.request import urlopen

F = t.TypeVar("F", bound=Callable[..., t.Any])
NAMES = {str: "string", bool: "boolean", int: "integer", float: "number", dict: "object"}
CLASSES: dict[str, t.Any] = {it: kind for kind, it in NAMES.items()} | {"number": (int, float)}


class Range(t.NamedTuple):
    """Least and greatest value of a number, as in `Annotated[float, Range(0, 1)]`."""

    minimum: float | None = None
    maximum: float | None = None


class Final(Exception):
    """An error that another attempt would only repeat: raise it where the input is wrong."""


class Link(str):
    """The address of a file of an input."""


def engine(function: F) -> F:
    """Marks the function that is served. It stays what it is."""
    function.is_kiln_engine = True  # type: ignore[attr-defined]
    return function


def progress(done: float, total: float) -> None:
    """Prints how far the work is, as tqdm does, because readers of logs look for that."""
    share = min(done / total, 1) if total else 0
    print(f"{int(100 * share):3}%|{'#' * int(10 * share):10}| {int(done)}/{int(total)}", flush=True)


class Signature:
    """What a marked function takes and gives. Raises TypeError where that cannot be read."""

    def __init__(self, function: Callable[..., t.Any]) -> None:
        self.function, self.inputs, self.required = function, dict[str, t.Any](), list[str]()
        hints, about = t.get_type_hints(function, include_extras=True), inspect.getdoc(function)
        # A line "name: text" or ":param name: text" of the docstring.
        lines = dict(re.findall(r"^\s*(?::param )?(\w+): *(\S.*)$", about or "", re.MULTILINE))
        for order, (name, parameter) in enumerate(inspect.signature(function).parameters.items()):
            if name not in hints or parameter.kind.name.startswith("VAR"):
                raise TypeError(f"{function.__name__}: {name} is not a parameter with a type")
            schema = {"x-order": order} | self.to_schema(name, hints[name])
            schema |= {"description": lines[name]} if name in lines else {}
            if parameter.default is parameter.empty:
                self.required.append(name)
            elif not isinstance(parameter.default, Path):
                schema |= {"default": parameter.default}
                self.check_default(name, schema)
            self.inputs[name] = schema | ({"nullable": True} if parameter.default is None else {})
        for name in lines.keys() - self.inputs.keys():
            for near in get_close_matches(name, self.inputs.keys() - lines.keys(), 1):
                text = f"no parameter is called {name}, as in its docstring; did you mean {near}?"
                print(f"warning: {function.__name__}: {text}", file=sys.stderr)
        given = {"type": "object", "properties": self.inputs, "required": self.required}
        if "return" not in hints:
            raise TypeError(f"{function.__name__} does not say what it returns, as in -> Path")
        made = hints["return"]
        made = t.get_args(made)[2] if t.get_origin(made) is Generator else made
        self.output = self.to_schema("what it returns", made)
        self.document = {
            "openapi": "3.0.2",
            "info": {"title": function.__name__, "description": about or "", "version": "1"},
            "paths": {},
            "components": {"schemas": {"Input": given, "Output": self.output}},
        }

    def to_schema(self, name: str, kind: t.Any) -> dict[str, t.Any]:
        try:
            return to_schema(kind)
        except TypeError as error:
            raise TypeError(f"{self.function.__name__}: the type of {name}: {error}") from None

    def check_default(self, name: str, schema: dict[str, t.Any]) -> None:
        try:
            if schema["default"] is not None:
                read(schema["default"], schema)
        except ValueError as error:
            raise TypeError(f"{self.function.__name__}: the default of {name}: {error}") from None

    def read(self, given: t.Any) -> tuple[dict[str, t.Any], list[tuple[list[str], str]]]:
        """Returns the arguments of a call, and what is wrong. Other members are left out."""
        if not isinstance(given, dict):
            return {}, [(["input"], "is not an object")]
        missing = [name for name in self.required if name not in given]
        values, wrong = {}, [(["input", name], "Field required") for name in missing]
        for name in self.inputs.keys() & given.keys():
            try:
                values[name] = read(given[name], self.inputs[name])
            except ValueError as error:
                wrong.append((["input", name], str(error)))
        return values, wrong

    def call(self, values: dict[str, t.Any], folder: Path) -> t.Any:
        """Calls the function, with the files of its input in a folder."""
        made = self.function(**{name: fetch(it, folder / name) for name, it in values.items()})
        while isinstance(made, Generator):
            try:
                progress(*next(made))
            except StopIteration as end:
                made = end.value
        if not is_made(made, self.output):
            wanted = "a Path" if "format" in self.output else f'of type "{self.output["type"]}"'
            raise Final(f"{self.function.__name__} returned {made!r:.80}, which is not {wanted}")
        return show(made)


def to_schema(kind: t.Any) -> dict[str, t.Any]:
    origin, args = t.get_origin(kind) or kind, t.get_args(kind)
    if origin is t.Annotated:
        (bounds,) = [note._asdict() for note in args[1:] if isinstance(note, Range)] or [{}]
        return to_schema(args[0]) | {name: it for name, it in bounds.items() if it is not None}
    if origin in (t.Union, UnionType) and len(args) == 2 and NoneType in args:
        return to_schema(args[args[0] is NoneType]) | {"nullable": True}
    if origin is t.Literal and {*map(type, args)} in ({str}, {int}):
        return {"type": NAMES[type(args[0])], "enum": [*args]}
    if origin is list and args:
        return {"type": "array", "items": to_schema(args[0])}
    if origin is Path:
        return {"type": "string", "format": "uri"}
    if origin in NAMES:
        return {"type": NAMES[origin]}
    raise TypeError(f"{kind} is not str, int, float, bool, dict, Path, Literal or a list of those")


def read(value: t.Any, schema: dict[str, t.Any]) -> t.Any:
    """Returns a value that fits. Raises ValueError that says why it does not."""
    kind = NAMES.get(type(value), "array" if isinstance(value, list) else "null")
    if kind == "null" and schema.get("nullable"):
        return None
    least, greatest = schema.get("minimum", value), schema.get("maximum", value)
    if kind != schema["type"] and (kind, schema["type"]) != ("integer", "number"):
        wrong = f'of type "{schema["type"]}"'
    elif value not in schema.get("enum", [value]):
        wrong = f"one of {json.dumps(schema['enum'])}"
    elif kind in ("integer", "number") and not least <= value <= greatest:
        wrong = f"from {least} to {greatest}"
    elif "format" not in schema:
        return [read(item, schema["items"]) for item in value] if kind == "array" else value
    # Never a path, or callers would read the files of this machine.
    elif re.match("data:[^,]*,|https?://", value):
        return Link(value)
    else:
        wrong = "a data URL or an http(s) link"
    raise ValueError(f"{json.dumps(value, ensure_ascii=False)[:80]} is not {wrong}")


def is_made(value: t.Any, schema: dict[str, t.Any]) -> bool:
    """True of a value that a function may return."""
    if value is None:
        return "nullable" in schema
    if schema["type"] == "array":
        return isinstance(value, (list, tuple)) and all(
            is_made(it, schema["items"]) for it in value
        )
    return isinstance(value, Path if "format" in schema else CLASSES[schema["type"]])


def fetch(value: t.Any, path: Path) -> t.Any:
    if isinstance(value, list):
        return [fetch(item, Path(f"{path}-{index}")) for index, item in enumerate(value)]
    if not isinstance(value, Link):
        return value
    with urlopen(value, timeout=60) as response:
        kind = response.headers.get_content_type()
        suffix = PurePosixPath(urlsplit(value).path).suffix if value.startswith("http") else ""
        path = Path(f"{path}{suffix or mimetypes.guess_extension(kind, strict=False) or ''}")
        with path.open("wb") as file:
            shutil.copyfileobj(response, file)
    return path


def show(value: t.Any) -> t.Any:
    if isinstance(value, (list, tuple)):
        return [show(item) for item in value]
    if not isinstance(value, Path):
        return value
    kind = mimetypes.guess_type(value.name, strict=False)[0] or "application/octet-stream"
    return f"data:{kind};base64,{b64encode(value.read_bytes()).decode()}"
