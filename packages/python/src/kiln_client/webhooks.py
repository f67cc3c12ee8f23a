"""Verification of webhooks, by the scheme of Standard Webhooks."""

import base64
import binascii
import hashlib
import hmac
import json
import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from .arguments import ArgumentError

# Seconds that the clocks of both sides may differ.
_TOLERANCE = 300

WebhookIssue = Literal["headers_missing", "not_of_now", "signature_wrong"]


class WebhookError(Exception):
    """A message that this service did not sign for you, or too long ago. Respond with 401."""

    def __init__(self, code: WebhookIssue, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class WebhookEvent:
    """A message whose signature was verified."""

    #: The same over every retry and redelivery: keep it, to handle an event once.
    id: str
    #: Number of the transition within its task; later ones have higher numbers.
    sequence: int | None
    #: When this attempt was sent.
    sent_at: datetime
    body: Any


def verify_webhook(
    secrets: str | Iterable[str], headers: Mapping[str, str], body: bytes | str
) -> WebhookEvent:
    """Verifies a message by `whsec_…` secrets, of which any may have signed it, and reads it.

    `body` is what came: what was parsed and written again has another signature.
    """
    every = [secrets] if isinstance(secrets, str | None) else secrets
    keys = [_read_secret(secret) for secret in every]
    if not keys:
        raise ArgumentError("secrets must have one at least")
    given = {name.lower(): value for name, value in headers.items()}
    names = ("id", "timestamp", "signature")
    id, sent, signatures = (given.get(f"webhook-{name}", "") for name in names)
    if not (id and sent and signatures):
        raise WebhookError("headers_missing", "webhook-id, -timestamp or -signature is missing")
    seconds = _read_number(sent)
    if not abs(time.time() - seconds) <= _TOLERANCE:
        raise WebhookError("not_of_now", "webhook-timestamp is not of these five minutes")
    data = body.encode() if isinstance(body, str) else body
    expected = [hmac.digest(key, f"{id}.{sent}.".encode() + data, hashlib.sha256) for key in keys]
    found = [_decode(text[3:]) for text in signatures.split(" ") if text.startswith("v1,")]
    if not any(hmac.compare_digest(one, other) for one in expected for other in found):
        raise WebhookError("signature_wrong", "no signature is of this secret")
    number = given.get("webhook-sequence", "")
    sequence = int(number) if number.isdigit() else None
    return WebhookEvent(id, sequence, datetime.fromtimestamp(seconds, UTC), json.loads(data))


def _read_number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _read_secret(secret: Any) -> bytes:
    key = _decode(secret.removeprefix("whsec_")) if isinstance(secret, str) else b""
    if not key:
        raise ArgumentError("secrets must be whsec_ and Base64, without a line end")
    return key


def _decode(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""
