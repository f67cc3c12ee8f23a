"""Requests with credentials, idempotency keys and retries."""

import os
import random
import uuid
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from copy import copy
from io import BytesIO
from json import loads
from math import inf
from pathlib import Path
from typing import Any, BinaryIO, Self

import httpx
from httpx_sse import ServerSentEvent
from httpx_sse._decoders import SSEDecoder

from .._blocking import async_call, async_sleep
from ..arguments import ArgumentError, require_address, require_header, require_link, to_json
from ..deadline import Deadline
from ..errors import KilnError, ServiceError, read_error
from ..files import CHUNK, FileSource, GivenFile, hash_of, to_source
from ..tasks import Replay

# A string, or a function that is called before each attempt, for secrets that expire.
Secret = str | Callable[[], str]

# Seconds. The longest that the service takes is 55, and a stream sends something every 15, or 22 while the
# service has no database.
RESPONSE_TIMEOUT = 90.0
STREAM_TIMEOUT = 25.0
LONGEST_PAUSE = 15.0
# A service that asks for more is not waited for.
LONGEST_RETRY_AFTER = 60.0
# Items of a page.
PAGE = 100

# Header and scheme of each credential.
_HEADERS = {"token": ("authorization", "Bearer "), "api_key": ("x-api-key", "")}


class AsyncRoutes:
    def __init__(self, http: "AsyncHttp") -> None:
        self._http = http


class AsyncHttp:
    """The requests of a client."""

    def __init__(
        self,
        base_url: str,
        *,
        token: Secret | None = None,
        api_key: Secret | None = None,
        attempts: int = 6,
        backoff: float = 0.5,
        client: httpx.AsyncClient | None = None,
    ) -> None:
        self._base_url = require_address("base_url", base_url)
        self._secrets = {"token": token, "api_key": api_key}
        for name, secret in self._secrets.items():
            if secret is not None and not callable(secret):
                require_header(name, secret)
        self._attempts = attempts
        self._backoff = backoff
        self._client = client or httpx.AsyncClient()

    def with_token(self, token: str) -> Self:
        """Returns the same with this token where it has no credential of its own."""
        reader = copy(self)
        if not any(self._secrets.values()):
            reader._secrets = {"token": token}
        return reader

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._client.aclose()

    async def request(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
        attempts: int | None = None,
        deadline: Deadline | None = None,
    ) -> httpx.Response:
        """Calls any route until there is a success. All attempts of a POST share one idempotency key."""
        # A member that nothing reads is an error of the caller, not a wish that is dropped.
        given = {"prefer": "handling=strict"}
        for name, value in (headers or {}).items():
            if not value.isprintable():
                raise ArgumentError(f"the header {name} must be one line of printable characters")
            given[name.lower()] = value.strip()
        if idempotency_key is not None:
            given["idempotency-key"] = require_header("idempotency_key", idempotency_key)
        if not path.startswith("/"):
            raise ArgumentError("path must begin with a slash")
        if method == "POST":
            given.setdefault("idempotency-key", str(uuid.uuid4()))
        if json is not None:
            given.setdefault("content-type", "application/json")
        content = None if json is None else to_json(json)
        query = {name: value for name, value in (params or {}).items() if value is not None}
        return await self.send(
            lambda timeout: self._client.build_request(
                method,
                self._base_url + path,
                content=content,
                params=query or None,
                headers={**given, **self._credentials()},
                timeout=timeout,
            ),
            attempts=attempts,
            deadline=deadline,
        )

    async def read_json(self, method: str, path: str, body: Any = None) -> Any:
        """Calls any route; returns the JSON of its response."""
        return (await self.request(method, path, json=body)).json()

    async def pages(
        self, path: str, member: str, query: Mapping[str, Any], cursor: str = "after"
    ) -> AsyncGenerator[Any]:
        """Lists page by page, as the items are taken; `limit` of the query is the most of them."""
        given = dict(query)
        left = inf if (limit := given.pop("limit", None)) is None else limit
        while left > 0:
            size = min(left, PAGE)
            page = (await self.request("GET", path, params={**given, "limit": size})).json()
            items = page[member]
            for item in items:
                yield item
            left -= len(items)
            last = items[-1]["id"] if cursor == "before" and len(items) == size else None
            given[cursor] = page.get("next", last)
            if given[cursor] is None:
                return

    def _credentials(self) -> dict[str, str]:
        headers = {}
        for name, secret in self._secrets.items():
            if secret is not None:
                text = require_header(name, secret() if callable(secret) else secret)
                header, scheme = _HEADERS[name]
                headers[header] = scheme + text
        return headers

    async def replay(self, made: httpx.Response, key: str | None, path: str) -> Replay | None:
        """Reads what an earlier request has made, when it is its response; a key of the client's own names an attempt."""
        if key is None or "idempotent-replayed" not in made.headers:
            return None
        found = {}
        # What was made stands, whatever becomes of this read.
        with suppress(KilnError):
            found = (await self.request("GET", path)).json()
        return Replay(found.get("created_at"), found.get("state"), found.get("ended_at"))

    async def upload(
        self, source: GivenFile, *, file_name: str | None = None, content_type: str | None = None
    ) -> str:
        """Uploads a file; returns its link, which any image or video of a task may be for 24 hours.

        What the caller has uploaded before is not sent again.
        """
        file = await async_call(lambda: to_source("source", source))
        hash = await async_call(lambda: hash_of(file))
        name = file_name or ("file" if isinstance(file, bytes) else os.path.basename(file))
        type = {} if content_type is None else {"content_type": content_type}
        body = {"file_name": name, "file_hash": hash, **type}
        links = (await self.request("POST", "/customers/storage", json=body)).json()
        if not links["existing_file"]:
            await self.send_file("PUT", links["upload_url"], file)
        return str(links["download_url"])

    async def post_file(
        self, path: str, source: Path, params: Mapping[str, Any], deadline: Deadline
    ) -> httpx.Response:
        """Sends a file as the body of a POST, with the credential of the client."""
        url = str(httpx.URL(self._base_url + path, params=params))
        return await self.send_file("POST", url, source, deadline, self._credentials)

    async def send_file(
        self,
        method: str,
        link: str,
        source: FileSource,
        deadline: Deadline | None = None,
        credentials: Callable[[], dict[str, str]] = dict,
    ) -> httpx.Response:
        """Sends a file, without a credential to a signed link."""
        until = deadline or Deadline()
        size = len(source) if isinstance(source, bytes) else os.stat(source).st_size

        def build(timeout: float) -> httpx.Request:
            content = source if isinstance(source, bytes) else _read(source, until)
            headers = {"content-length": str(size), **credentials()}
            return self._client.build_request(
                method, link, content=content, headers=headers, timeout=timeout
            )

        return await self.send(build, deadline=until)

    async def save(self, link: str, path: str | os.PathLike[str]) -> None:
        """Writes what a task has made, or any other file behind a signed link, into a file, which is whole or as it
        was before."""
        require_link("link", link)
        target = Path(path).resolve()
        if target.exists() and not target.is_file():
            raise ArgumentError("path must name a file, or none that is there")
        if not target.parent.is_dir():
            raise ArgumentError(f"path must be in a folder that is there: {target.parent} is none")
        scratch = target.with_name(f".{uuid.uuid4().hex}.part")
        try:
            with scratch.open("wb") as file:
                await self.send(
                    lambda timeout: self._client.build_request("GET", link, timeout=timeout), file
                )
            scratch.replace(target)
        finally:
            scratch.unlink(missing_ok=True)

    async def send(
        self,
        build: Callable[[float], httpx.Request],
        file: BinaryIO | None = None,
        *,
        attempts: int | None = None,
        deadline: Deadline | None = None,
    ) -> httpx.Response:
        """Sends until there is a success, and reads it, or writes it to a file. Raises the error that does not
        pass, or that of the last attempt."""
        until, attempt = deadline or Deadline(), 0
        while True:
            attempt += 1
            content = file or BytesIO()
            content.seek(0)
            content.truncate()
            try:
                async with self._open(build(until.left(RESPONSE_TIMEOUT))) as response:
                    async for chunk in response.aiter_bytes():
                        content.write(chunk)
                        until.left()
                    if isinstance(content, BytesIO):
                        # As `read` would, which does not look at the time.
                        response._content = content.getvalue()
                    return response
            except KilnError as error:
                await self._pause(error, attempt, attempts or self._attempts, until)

    async def _pause(
        self, error: KilnError, failures: int, attempts: int, deadline: Deadline
    ) -> None:
        """Waits until the next attempt. Raises the error where there is none."""
        pause = self.pause_after(failures, error)
        if not error.passing or failures >= attempts or pause is None:
            deadline.left()
            raise error
        await async_sleep(deadline.left(pause))

    def pause_after(self, attempt: int, error: KilnError) -> float | None:
        """Seconds until the next attempt; None when the service asks for more than is waited for."""
        asked = error.retry_after or 0.0
        if asked > LONGEST_RETRY_AFTER:
            return None
        step: float = min(LONGEST_PAUSE, self._backoff * 2 ** (attempt - 1))
        return max(asked, step * random.uniform(0.5, 1))

    async def stream(self, path: str, last_event_id: str) -> AsyncGenerator[ServerSentEvent | None]:
        """Opens a stream and reads it until it ends; None after each part, so that the caller can look at the time."""
        headers = {"accept": "text/event-stream", **self._credentials()}
        if last_event_id:
            headers["last-event-id"] = last_event_id
        url = self._base_url + path
        request = self._client.build_request("GET", url, headers=headers, timeout=STREAM_TIMEOUT)
        decoder, rest, is_silent = SSEDecoder(), "", True
        try:
            async with self._open(request) as response:
                if not response.headers.get("content-type", "").startswith("text/event-stream"):
                    raise KilnError("answer_unknown", f"{url} is no stream", response.status_code)
                async for text in response.aiter_text():
                    is_silent = False
                    # JSON may have any other end of a line in it.
                    *lines, rest = (rest + text).split("\n")
                    for line in lines:
                        event = decoder.decode(line.rstrip("\r"))
                        if event is not None:
                            yield event
                    yield None
        except ServiceError as error:
            if is_silent and isinstance(error.__cause__, httpx.ReadTimeout):
                raise KilnError("answer_unknown", f"nothing came from {url}") from error
            raise

    async def lines(self, path: str) -> AsyncGenerator[Any]:
        """Reads lines of JSON as they come; after a break again, from the line where it was."""
        seen = failures = 0
        while True:
            url, auth, number, rest = self._base_url + path, self._credentials(), 0, ""
            request = self._client.build_request("GET", url, headers=auth, timeout=RESPONSE_TIMEOUT)
            try:
                async with self._open(request) as response:
                    async for text in response.aiter_text():
                        *lines, rest = (rest + text).split("\n")
                        for line in lines:
                            number += 1
                            if number > seen:
                                seen, failures = number, 0
                                yield loads(line)
                if rest == "":
                    return
                raise ServiceError("unreachable", "the last line is not whole")
            except KilnError as error:
                failures += 1
                await self._pause(error, failures, self._attempts, Deadline())

    @asynccontextmanager
    async def _open(self, request: httpx.Request) -> AsyncGenerator[httpx.Response]:
        """Sends once; gives a success whose body is still to be read. Everything else is a KilnError."""
        try:
            response = await self._client.send(request, stream=True, follow_redirects=False)
            try:
                # 304 is a success, because callers have asked for it.
                if not response.is_success and response.status_code != 304:
                    await response.aread()
                    raise read_error(response)
                yield response
            finally:
                await response.aclose()
        except httpx.RequestError as cause:
            reason = str(cause) or type(cause).__name__
            raise ServiceError("unreachable", f"the service cannot be reached: {reason}") from cause


async def _read(path: os.PathLike[str], deadline: Deadline) -> AsyncGenerator[bytes]:
    with Path(path).open("rb") as file:
        while deadline.left() and (chunk := await async_call(lambda: file.read(CHUNK))):
            yield chunk
