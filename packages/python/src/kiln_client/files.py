"""Files that callers give: bytes at hand, the path of a file, or one that is open."""

import base64
import hashlib
import os
import re
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import IO, Any

from .arguments import ArgumentError

#: A file: bytes, a path, or one that is open in binary mode.
GivenFile = bytes | os.PathLike[str] | IO[bytes]

#: An image of a body: a link, a data URI or Base64 as the service takes it, or a file, which is uploaded.
FileInput = str | GivenFile

#: Bytes that are sent to a signed link, as often as it takes.
FileSource = bytes | os.PathLike[str]

#: Members of bodies that are images.
IMAGE_MEMBERS = (
    "image",
    "images",
    "transfer_light_from_lightmap",
    "transfer_light_from_reference_image",
)

CHUNK = 65_536

_FILE = "bytes, a pathlib.Path, or a file that is open in binary mode"


def to_source(name: str, value: Any) -> FileSource:
    """Returns what can be sent again: a path, or all bytes of what is open."""
    if isinstance(value, str):
        return Path(value)
    if isinstance(value, bytes | os.PathLike):
        return value
    data = value.read() if hasattr(value, "read") else value
    if isinstance(data, bytes | bytearray | memoryview):
        return bytes(data)
    raise ArgumentError(f"{name} must be {_FILE}, got {type(value).__name__}")


def require_no_path(name: str, text: str) -> str:
    """Returns the text of an image, a link or Base64. A path is often given so."""
    is_link = re.match(r"[A-Za-z][\w+.-]+:", text)
    is_base64 = not re.search(r"[^\w+/=\s-]", text[:4096], re.ASCII)
    if is_link or (is_base64 and not (len(text) < 4096 and os.path.isfile(text))):
        return text
    form = f"a link or Base64 as a str, or {_FILE}"
    raise ArgumentError(f"{name} must be {form}: is the str a path? Path(…) around it reads it")


def hash_of(source: FileSource) -> str:
    """Reads a file once; returns its SHA-256 in hex."""
    with _open(source) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def require_lines(source: FileSource) -> None:
    """Rejects what is no file with a request a line: the service would take none of it."""
    with _open(source) as file:
        head = file.read(1000)
    if head.startswith(b"\xef\xbb"):
        raise ArgumentError("requests must be UTF-8 without a byte order mark")
    if head[:1] in (b"\xff", b"\xfe") or b"\0" in head[:2]:
        raise ArgumentError("requests must be UTF-8, got UTF-16")
    if head.lstrip().startswith(b"["):
        raise ArgumentError("requests must have one a line, got a JSON array")


def to_base64(source: FileSource) -> str:
    with _open(source) as file:
        return base64.b64encode(file.read()).decode()


def _open(source: FileSource) -> BytesIO | BufferedReader:
    return BytesIO(source) if isinstance(source, bytes) else Path(source).open("rb")
