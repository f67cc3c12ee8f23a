"""Files that callers give: bytes at hand, or the path of a file."""

import base64
import hashlib
import os
from pathlib import Path

from .arguments import ArgumentError

#: An image of a body: a link, a data URI or Base64 as the service takes it, or bytes or a path, which are uploaded.
FileInput = str | bytes | os.PathLike[str]

#: Bytes that are sent to a signed link.
FileSource = bytes | os.PathLike[str]

#: Members of bodies that are images.
IMAGE_MEMBERS = (
    "image",
    "images",
    "transfer_light_from_lightmap",
    "transfer_light_from_reference_image",
)

CHUNK = 65_536


def hash_and_size(source: FileSource) -> tuple[str, int]:
    """Reads a file once: its SHA-256 in hex, and its bytes."""
    if isinstance(source, bytes):
        return hashlib.sha256(source).hexdigest(), len(source)
    with Path(source).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest(), file.tell()


def require_lines(source: FileSource) -> None:
    """Rejects what is no file with a request a line: the service would take none of it."""
    if isinstance(source, bytes):
        head = source[:1000]
    else:
        with Path(source).open("rb") as file:
            head = file.read(1000)
    if head.startswith(b"\xef\xbb"):
        raise ArgumentError("requests must be UTF-8 without a byte order mark")
    if head[:1] in (b"\xff", b"\xfe") or b"\0" in head[:2]:
        raise ArgumentError("requests must be UTF-8, got UTF-16")
    if head.lstrip().startswith(b"["):
        raise ArgumentError("requests must have one a line, got a JSON array")


def to_base64(source: FileSource) -> str:
    data = source if isinstance(source, bytes) else Path(source).read_bytes()
    return base64.b64encode(data).decode()
