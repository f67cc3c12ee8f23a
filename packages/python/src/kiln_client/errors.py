"""Errors of the service, one class for each thing that a caller does about them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

# The same request may succeed later.
_PASSING = {
    *("unreachable", "request_timeout", "idempotency_in_flight", "rate_limited", "busy"),
    *("streams_exceeded", "unavailable", "outcome_unknown", "auth_unavailable", "draining"),
}


@dataclass(eq=False)
class KilnError(Exception):
    """A request that was rejected, or that got no response, after its last attempt."""

    #: Code of the service's catalogue, or `unreachable` or `answer_unknown`.
    code: str
    message: str
    #: HTTP status; None where no response came.
    status: int | None = None
    #: One sentence for each issue of the request: field, expectation, value.
    details: Sequence[str] = ()
    #: Finds the request in the service's log.
    request_id: str | None = None
    #: Seconds after which the service says it is worth trying again.
    retry_after: float | None = None

    @property
    def fields(self) -> list[str]:
        """Members of the body as JSON Pointers, and `?name` of the query, that have an issue."""
        found = (re.match(r"[/?]\S+", text) for text in self.details or [self.message])
        return [match.group() for match in found if match]

    @property
    def field(self) -> str | None:
        """The first of `fields`."""
        return next(iter(self.fields), None)

    @property
    def passing(self) -> bool:
        """True when it is worth sending the same request again."""
        # Of a proxy before a service that is away.
        is_away = self.code == "answer_unknown" and self.status in (502, 503, 504)
        return self.code in _PASSING or is_away

    def __str__(self) -> str:
        request = f" (request {self.request_id})" if self.request_id else ""
        return f"{self.code}: {self.message}{request}"


class InvalidRequestError(KilnError):
    """The request has to change: any status from 400 to 499 that has no class of its own."""


class UnauthorizedError(KilnError):
    """The credential is missing, wrong or has expired: 401."""


class ForbiddenError(KilnError):
    """The caller may not do this: 403."""


class NotFoundError(KilnError):
    """There is no such thing: 404."""


class ConflictError(KilnError):
    """The state of the thing does not allow it: 409."""


class RateLimitedError(KilnError):
    """Too many requests, or too much stored or open: 429. `retry_after` says when to go on."""


class ServiceError(KilnError):
    """The service, or a proxy before it, is away or has failed: 5xx, or no response."""


_CLASSES: dict[int, type[KilnError]] = {
    401: UnauthorizedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    429: RateLimitedError,
}


def read_error(response: httpx.Response) -> KilnError:
    """Reads the error from a response that is no success, and whose body was read."""
    status = response.status_code
    kind = ServiceError if status >= 500 else _CLASSES.get(status, InvalidRequestError)
    try:
        body: Any = response.json()
    except ValueError:
        body = None
    if not isinstance(body, dict) or not isinstance(body.get("error"), str):
        text = f"{response.url} responded with {status}, which is no error of this service"
        body = {"error": "answer_unknown", "message": f"{text}: {response.text[:200]}"}
    code, message, details = body["error"], str(body.get("message")), body.get("details", ())
    return kind(code, message, status, details, body.get("request_id"), read_retry_after(response))


def read_retry_after(response: httpx.Response) -> float | None:
    """Reads the seconds of Retry-After, which is a number or a date."""
    text = response.headers.get("retry-after", "")
    if text.isdigit():
        return float(text)
    try:
        return max(0.0, (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None
