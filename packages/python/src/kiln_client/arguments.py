"""Arguments that become headers and addresses. What is said of a wrong one names it, and never has its value."""

import json
import re
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import httpx

#: Seconds from now, or a time; a datetime without a zone is of this machine.
StartTime = float | str | datetime

_VISIBLE = (
    "visible ASCII characters without spaces and line ends (that of a file has to be cut off)"
)


class ArgumentError(ValueError, TypeError):
    """An error of the caller, who gets it before anything is sent."""


def require_header(name: str, value: Any) -> str:
    """Returns a credential or a key, which a header takes whole."""
    if isinstance(value, str) and re.fullmatch(r"[\x21-\x7e]+", value):
        return value
    raise ArgumentError(f"{name} must be {_VISIBLE}{_found(value)}")


def require_link(name: str, value: Any) -> str:
    """Returns an http(s) address."""
    if isinstance(value, str) and re.fullmatch(r"(?i)https?://[^\s/?#@\\]+([/?#]\S*)?", value):
        with suppress(httpx.InvalidURL):
            httpx.URL(value)
            return value
    form = "an address that begins with http:// or https:// and names no user"
    raise ArgumentError(f"{name} must be {form}{_found(value)}")


def require_address(name: str, value: Any) -> str:
    """Returns the address of a service, without a slash at its end."""
    address = require_link(name, value)
    if "?" in address or "#" in address:
        raise ArgumentError(f"{name} must be the address of a service, which has no query")
    return address.rstrip("/")


def to_segment(value: Any) -> str:
    """Encodes a segment of a path. A URL takes `..` for the folder above."""
    if isinstance(value, str) and value not in ("", ".", ".."):
        return quote(value, safe="")
    raise ArgumentError(f"an id must not be empty, '.' or '..'{_found(value)}")


def to_json(body: Any) -> bytes:
    """Writes a body, its times as instants."""
    options: Any = {"ensure_ascii": False, "allow_nan": False, "separators": (",", ":")}
    return json.dumps(body, default=_to_instant, **options).encode()


def _to_instant(value: Any) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    raise ArgumentError(f"a body must be of JSON and times{_found(value)}")


def _found(value: Any) -> str:
    return "" if isinstance(value, str) else f", got {type(value).__name__}"
