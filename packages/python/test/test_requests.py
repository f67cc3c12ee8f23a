"""Retries, keys, errors and waiting, before a service that is faulty on purpose."""

import asyncio
import json
import pickle
from datetime import UTC, datetime, timedelta, timezone

import httpx
import pytest

from kiln_client import (
    ArgumentError,
    ForbiddenError,
    InvalidRequestError,
    KilnError,
    NotFoundError,
    RateLimitedError,
    ServiceError,
    UnauthorizedError,
)
from kiln_client.tasks import read_task

ID = "7c9d2f34-5a1b-4e8e-9f53-0d6a2b1c4e57"
LINK = "https://a.example/a.png"


def image(status="COMPLETED", **options):
    record = {"task_id": ID, "status": status, "generated": [LINK] if status == "COMPLETED" else []}
    return httpx.Response(200, json={"data": record}, **options)


def reject(status, code, **options):
    body = {"error": code, "message": f"It is {code}.", "request_id": "r-1"}
    return httpx.Response(status, json=body, **options)


def stream(*events, **options):
    lines = "".join(
        f"id: {n}\nevent: {name}\ndata: {json.dumps(data)}\n\n" for n, name, data in events
    )
    return httpx.Response(200, text=lines, headers={"content-type": "text/event-stream"}, **options)


def test_a_post_is_sent_again_with_the_same_key_and_a_fresh_token(kiln_of):
    tokens = iter(range(9))
    kiln, seen = kiln_of(
        reject(503, "unavailable"),
        reject(429, "rate_limited", headers={"retry-after": "0"}),
        httpx.Response(502, text="<html>"),
        httpx.ConnectError("no way"),
        image(),
        token=lambda: f"token-{next(tokens)}",
    )
    assert kiln.relight(image=LINK).state == "succeeded"
    assert len({request.headers["idempotency-key"] for request in seen}) == 1
    assert [request.headers["authorization"] for request in seen] == [
        f"Bearer token-{n}" for n in range(5)
    ]
    assert {request.content for request in seen} == {
        json.dumps({"image": LINK}, separators=(",", ":")).encode()
    }
    assert {request.headers["prefer"] for request in seen} == {"handling=strict"}


@pytest.mark.parametrize(
    ("status", "code", "sent", "kind"),
    [
        (400, "validation_failed", 1, InvalidRequestError),
        (401, "unauthorized", 1, UnauthorizedError),
        (403, "forbidden", 1, ForbiddenError),
        (404, "task_not_found", 1, NotFoundError),
        (429, "quota_exceeded", 1, RateLimitedError),
        (500, "internal_error", 1, ServiceError),
        (503, "draining", 6, ServiceError),
    ],
)
def test_a_rejection_is_an_error_of_its_class(kiln_of, status, code, sent, kind):
    kiln, seen = kiln_of(*[reject(status, code) for _ in range(9)])
    with pytest.raises(kind) as caught:
        kiln.relight(image=LINK)
    error = caught.value
    assert (error.code, error.status, error.request_id, len(seen)) == (code, status, "r-1", sent)
    assert str(error) == f"{code}: It is {code}. (request r-1)"
    assert pickle.loads(pickle.dumps(error)).code == code


def test_a_service_that_asks_for_an_hour_is_not_waited_for(kiln_of):
    kiln, seen = kiln_of(reject(429, "rate_limited", headers={"retry-after": "3600"}))
    with pytest.raises(RateLimitedError) as caught:
        kiln.relight(image=LINK)
    assert (caught.value.retry_after, len(seen)) == (3600, 1)


def test_an_error_names_its_fields(kiln_of):
    details = ["/image must be a string", "?page must be a number", "Something else."]
    body = {"error": "validation_failed", "message": details[0], "details": details}
    kiln, _ = kiln_of(httpx.Response(400, json=body))
    with pytest.raises(KilnError) as caught:
        kiln.upscale(image="")
    assert (caught.value.field, caught.value.fields) == ("/image", ["/image", "?page"])


def test_a_redirect_is_not_followed_with_a_credential(kiln_of):
    kiln, seen = kiln_of(
        httpx.Response(302, headers={"location": "https://b.example"}), api_key="k"
    )
    with pytest.raises(KilnError) as caught:
        kiln.relight(image=LINK)
    assert (caught.value.code, len(seen)) == ("answer_unknown", 1)


def test_a_file_is_base64_without_a_credential_and_a_given_key_is_sent(kiln_of, tmp_path):
    (tmp_path / "a.png").write_bytes(b"abc")
    kiln, seen = kiln_of(httpx.Response(200, json={"task_id": ID, "state": "created"}))
    task = kiln.image_to_video(images=[tmp_path / "a.png"], prompt="Sea", idempotency_key="one")
    assert json.loads(seen[0].content) == {"images": ["YWJj"], "prompt": "Sea"}
    assert seen[0].headers["idempotency-key"] == "one"
    assert task.path == f"/proxy/vidvendor/tasks/{ID}/creations"


def test_a_file_is_sent_again_after_a_break_and_not_at_all_when_it_is_known(kiln_of, tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(b"ab" * 100_000)
    links = {"upload_url": "http://up.test/1", "download_url": LINK, "existing_file": False}
    kiln, seen = kiln_of(
        httpx.Response(200, json=links),
        reject(503, "busy"),
        httpx.Response(200, json={}),
        httpx.Response(200, json={**links, "existing_file": True}),
        token="t",
    )
    assert kiln.upload(path) == LINK
    assert [len(request.content) for request in seen[1:]] == [200_000, 200_000]
    assert seen[1].headers["content-length"] == "200000"
    assert "authorization" not in seen[1].headers
    assert kiln.upload(path.read_bytes(), file_name="b") == LINK
    assert len(seen) == 4
    hashes = [json.loads(seen[n].content)["file_hash"] for n in (0, 3)]
    assert hashes[0] == hashes[1]


def test_a_wait_resumes_a_stream_that_breaks(kiln_of):
    end = {"id": ID, "state": "success", "creations": [{"url": LINK, "cover_url": ""}]}
    kiln, seen = kiln_of(
        httpx.Response(200, json={"task_id": ID, "state": "created"}),
        stream(
            (1, "state", {"status": "queueing"}),
            (1, "progress", {"waits_for": "It waits."}),
            (2, "later", {}),
        ),
        reject(503, "draining"),
        stream((3, "progress", {"progress": 40}), (4, "end", end)),
    )
    reported = []
    task = kiln.text_to_video(prompt="Sea")
    ended = kiln.wait(task, on_progress=reported.append)
    assert (ended.state, ended.files[0].cover_url) == ("succeeded", None)
    assert [(each.status, each.progress, each.waits_for) for each in reported] == [
        ("queueing", None, None),
        ("queueing", None, "It waits."),
        ("queueing", 40, None),
        ("success", 100, None),
    ]
    assert seen[1].url.path == f"/tasks/{ID}/stream"
    assert [request.headers.get("last-event-id") for request in seen[1:]] == [None, "2", "2"]


def test_a_wait_reads_the_status_where_there_is_no_stream(kiln_of):
    soon = {"retry-after": "0"}
    kiln, seen = kiln_of(
        image("IN_PROGRESS"),
        reject(404, "not_found"),
        image("IN_PROGRESS", headers={**soon, "etag": '"1"'}),
        httpx.Response(304, headers=soon),
        reject(503, "unavailable"),
        image("FAILED"),
    )
    reported = []
    ended = kiln.wait(kiln.relight(image=LINK), on_progress=reported.append)
    assert (ended.state, ended.error.code) == ("failed", "unknown")
    assert [each.status for each in reported] == ["IN_PROGRESS", "FAILED"]
    assert seen[2].headers["prefer"] == "wait=25"
    assert seen[3].headers["if-none-match"] == '"1"'


def test_a_wait_ends_after_its_patience_or_its_time(kiln_of):
    away = [httpx.ConnectError("gone") for _ in range(99)]
    kiln, _ = kiln_of(image("CREATED"), *away)
    with pytest.raises(ServiceError, match="unreachable"):
        kiln.wait(kiln.relight(image=LINK), patience=0)
    kiln, _ = kiln_of(image("CREATED"), *away)
    with pytest.raises(TimeoutError, match=f"^{ID} has not ended within 0 s$"):
        kiln.wait(kiln.relight(image=LINK), timeout=0)
    with pytest.raises(TimeoutError, match=f"^{ID} has not ended"):
        kiln.batches.wait(ID, timeout=0)
    for given in ("3", -1):
        kiln, seen = kiln_of()
        with pytest.raises(ArgumentError, match="timeout must be a number of seconds"):
            kiln.wait(ID, timeout=given)
        assert seen == []


def test_a_wait_for_an_id_outlives_an_outage_before_its_look_up(kiln_of):
    item = {"family": "image", "path": f"/proxy/imgvendor/v1/ai/image-relight/{ID}"}
    away = [httpx.ConnectError("gone") for _ in range(6 * 4)]
    kiln, seen = kiln_of(
        *(*away, httpx.Response(502, text="<html>"), httpx.Response(200, json=item)),
        stream((1, "state", {"status": "IN_PROGRESS"}), (2, "end", image().json())),
    )
    reported = []
    ended = kiln.wait(ID, on_progress=reported.append)
    assert (ended.state, ended.path) == ("succeeded", item["path"])
    assert [(each.id, each.status) for each in reported] == [(ID, "IN_PROGRESS"), (ID, "COMPLETED")]
    # No way is given up while the service is away.
    assert [way_of(request) for request in seen[-2:]] == ["plain", "stream"]
    kiln, _ = kiln_of(httpx.Response(404, text="<html>"))
    with pytest.raises(NotFoundError, match="answer_unknown"):
        kiln.wait(ID)


def test_a_wait_of_a_short_time_reports_at_once_and_each_change_once(kiln_of):
    def waiting(status, etag, waits_for=None):
        record = {"task_id": ID, "status": status, "generated": [], "waits_for": waits_for}
        headers = {"etag": etag, "preference-applied": "wait=5"}
        return httpx.Response(200, json={"data": record}, headers=headers)

    kiln, seen = kiln_of(
        image("CREATED"),
        waiting("CREATED", '"1"', "It is paused."),
        waiting("CREATED", '"2"', "It is paused."),
        waiting("CREATED", '"3"'),
        image("COMPLETED"),
    )
    reported = []
    kiln.wait(kiln.relight(image=LINK), timeout=5, on_progress=reported.append)
    assert [(each.status, each.waits_for) for each in reported] == [
        ("CREATED", "It is paused."),
        ("CREATED", None),
        ("COMPLETED", None),
    ]
    known = [request.headers["if-none-match"] for request in seen[1:]]
    assert known == ['"none"', '"1"', '"2"', '"3"']


class Parts(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body that comes in parts; an exception among them breaks it, and a number lets so many seconds pass."""

    def __init__(self, *parts, clock=None):
        self._parts, self._clock = parts, clock

    def __iter__(self):
        for part in self._parts:
            if isinstance(part, Exception):
                raise part
            if isinstance(part, int):
                self._clock.now += part
            else:
                yield part.encode()

    async def __aiter__(self):
        for part in self:
            yield part


def held(*parts, clock=None):
    headers = {"content-type": "text/event-stream"}
    return httpx.Response(200, stream=Parts(*parts, clock=clock), headers=headers)


def way_of(request):
    if request.headers.get("accept") == "text/event-stream":
        return "stream"
    return "waiting" if "wait=" in request.headers.get("prefer", "") else "plain"


SILENT = httpx.ReadTimeout("silent")
CUT = httpx.RemoteProtocolError("cut")
SOON = {"retry-after": "0"}


def test_a_deadline_is_kept_while_a_stream_has_nothing_but_comments(kiln_of, clock):
    def wait(request):
        given = int(request.headers["prefer"].removeprefix("wait="))
        time = request.extensions["timeout"]["read"]
        clock.now += min(given, time)
        if time < given:
            raise SILENT
        return httpx.Response(304, headers={**SOON, "preference-applied": f"wait={given}"})

    comment = ": still here\n\n"
    head = 'id: 1\nevent: state\ndata: {"status": "queueing"}\n\n'
    body = [head, *[15, comment] * 9, CUT]
    for timeout, waits in [(60, [15]), (20, [20]), (50, [20]), (24.5, [25])]:
        kiln, seen = kiln_of(
            image("CREATED"), *[held(*body, clock=clock)] * (timeout > 25), *[wait] * 3
        )
        task, start = kiln.relight(image=LINK), clock.now
        with pytest.raises(TimeoutError, match=f"within {timeout} s"):
            kiln.wait(task, timeout=timeout)
        assert clock.now - start == timeout
        prefer = [each.headers["prefer"] for each in seen[1:] if way_of(each) == "waiting"]
        assert prefer[: len(waits)] == [f"wait={n}" for n in waits]


def test_a_deadline_ends_the_look_up_of_an_id_pauses_and_a_body_that_drips(kiln_of, clock):
    kiln, _ = kiln_of(reject(503, "busy", headers={"retry-after": "50"}))
    start = clock.now
    with pytest.raises(TimeoutError):
        kiln.wait(ID, timeout=20)
    assert clock.now - start == 20
    kiln, _ = kiln_of(
        httpx.Response(200, stream=Parts("{", 15, " ", 15, " ", 15, "}", clock=clock))
    )
    start = clock.now
    with pytest.raises(TimeoutError):
        kiln.wait(ID, timeout=20)
    assert clock.now - start == 30


def test_a_publication_has_one_deadline(kiln_of, clock, tmp_path):
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "cup"\nversion = "1.0.0"\n')

    def after(seconds, response):
        def handle(request):
            request.read()
            clock.now += seconds
            return response

        return handle

    made = {"signedUrl": "http://up.test/1", "node_version": {"version": "1.0.0"}}
    for timeout, sent in [(5, 1), (15, 2), (25, 3)]:
        kiln, seen = kiln_of(
            after(10, httpx.Response(201, json=made)),
            after(10, httpx.Response(200)),
            after(10, reject(503, "busy")),
        )
        with pytest.raises(TimeoutError, match=f"within {timeout} s"):
            kiln.registry.publish(tmp_path, publisher="a", token="t", timeout=timeout)
        assert len(seen) == sent
        left = [request.extensions["timeout"]["read"] for request in seen]
        assert left == [timeout - 10 * n for n in range(sent)]


def test_a_wait_goes_on_by_the_next_way_after_three_cuts_and_reads_plainly_at_last(kiln_of):
    running = image("IN_PROGRESS", headers=SOON)
    kiln, seen = kiln_of(
        image("CREATED"), *[CUT] * 2, held(": open\n\n", CUT), *[CUT] * 3, running, CUT, image()
    )
    assert kiln.wait(kiln.relight(image=LINK)).state == "succeeded"
    ways = [way_of(request) for request in seen[1:]]
    assert ways == ["stream"] * 3 + ["waiting"] * 3 + ["plain"] * 3


def test_a_way_that_a_proxy_closes_is_left_at_once_and_a_waiting_read_is_sent_once(kiln_of):
    for first in (SILENT, held(SILENT), httpx.Response(504, text="<html>")):
        kiln, seen = kiln_of(
            image("CREATED"),
            *(first, reject(503, "draining"), httpx.Response(504, text="<html>")),
            *(image("IN_PROGRESS", headers=SOON), image()),
        )
        assert kiln.wait(kiln.relight(image=LINK)).state == "succeeded"
        ways = [way_of(request) for request in seen[1:]]
        assert ways == ["stream", "waiting", "waiting", "plain", "plain"]
    away = httpx.Response(502, text="<html>")
    kiln, seen = kiln_of(image("CREATED"), away, stream((1, "end", image().json())))
    assert kiln.wait(kiln.relight(image=LINK)).state == "succeeded"


def test_a_stream_is_read_whole_whatever_ends_of_lines_its_json_has(kiln_of):
    end = json.dumps({"data": image().json()["data"], "text": "\u2028\x85"}, ensure_ascii=False)
    kiln, _ = kiln_of(image("CREATED"), held(f"id: 1\r\nevent: end\r\ndata: {end}\r\n", "\r\n"))
    assert kiln.wait(kiln.relight(image=LINK)).state == "succeeded"


def test_the_results_of_a_batch_go_on_after_a_cut_from_the_line_where_they_were(kiln_of):
    lines = [json.dumps({"index": n}) + "\n" for n in range(3)]
    whole = "".join(lines)
    bodies = [Parts(lines[0], lines[1][:5], CUT), Parts(whole[:-1]), Parts(whole)]
    given = [httpx.Response(200, stream=body) for body in bodies]
    kiln, seen = kiln_of(reject(503, "busy"), *given)
    assert [line["index"] for line in kiln.batches.results(ID)] == [0, 1, 2]
    assert len(seen) == 4
    kiln, seen = kiln_of(*[CUT] * 9)
    with pytest.raises(ServiceError):
        list(kiln.batches.results(ID))
    assert len(seen) == 6


def test_a_file_is_saved_whole_or_not_at_all(kiln_of, tmp_path):
    target = tmp_path / "a.png"
    target.write_text("before")
    kiln, _ = kiln_of(*[httpx.Response(200, stream=Parts("half", CUT)) for _ in range(6)])
    with pytest.raises(ServiceError):
        kiln.save(LINK, target)
    assert [each.read_text() for each in tmp_path.iterdir()] == ["before"]
    kiln, _ = kiln_of(
        httpx.Response(200, stream=Parts("longer half", CUT)), httpx.Response(200, text="whole")
    )
    kiln.save(LINK, target)
    assert [each.read_text() for each in tmp_path.iterdir()] == ["whole"]
    with pytest.raises(ArgumentError, match="^path must name a file"):
        kiln.save(LINK, tmp_path)
    with pytest.raises(ArgumentError, match=r"^path must be in a folder that is there: .*/no is"):
        kiln.save(LINK, tmp_path / "no/a.png")


def test_an_image_may_be_an_open_file_and_a_path_as_a_str_is_said_to_be_one(kiln_of, tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(b"abc")
    kiln, seen = kiln_of(*[image() for _ in range(4)])
    with path.open("rb") as file:
        for given in (file, bytearray(b"abc"), memoryview(b"abc"), "YWJj"):
            kiln.relight(image=given)
    assert {json.loads(request.content)["image"] for request in seen} == {"YWJj"}
    (tmp_path / "abcd").write_bytes(b"abc")
    for given in (str(path), "C:\\a.png", str(tmp_path / "abcd")):
        with pytest.raises(ArgumentError, match="^image must be a link .*: is the str a path"):
            kiln.relight(image=given)
    with path.open() as file, pytest.raises(ArgumentError, match="^images must .* got TextIO"):
        kiln.image_to_video(images=[file])
    with pytest.raises(ArgumentError, match="^source must be bytes.*, got int$"):
        kiln.upload(5)
    assert len(seen) == 4


def test_a_template_takes_lists_of_files_beside_other_lists(kiln_of, tmp_path):
    (path := tmp_path / "a.png").write_bytes(b"png")
    kiln, seen = kiln_of(image())
    kiln.templates.create_task("join", parts=[b"png", path, LINK], words=["a b", 1])
    assert json.loads(seen[0].content) == {"parts": ["cG5n", "cG5n", LINK], "words": ["a b", 1]}


def test_a_template_may_have_a_member_that_is_called_name(kiln_of):
    kiln, seen = kiln_of(image())
    kiln.templates.create_task("poster", name="Ada")
    assert (seen[0].url.path, json.loads(seen[0].content)) == (
        "/templates/poster/tasks",
        {"name": "Ada"},
    )


def test_a_batch_is_waited_for_while_the_service_is_away(kiln_of):
    batch = {"batch_id": ID, "state": "running", "total": 2, "counts": {"pending": 1}}
    soon = {"retry-after": "0"}
    kiln, seen = kiln_of(
        httpx.Response(202, json={"batch_id": ID}),
        reject(503, "unavailable"),
        httpx.Response(200, json=batch, headers=soon),
        httpx.ConnectError("gone"),
        httpx.Response(200, json={**batch, "state": "cancelled"}),
    )
    id = kiln.batches.create([{"path": "/p", "body": {}}], idempotency_key="one")
    reported = []
    ended = kiln.batches.wait(id, on_progress=reported.append)
    assert (ended["state"], reported) == ("cancelled", [batch])
    assert json.loads(seen[0].content) == {"requests": [{"path": "/p", "body": {}}]}
    assert {request.url.path for request in seen[1:]} == {f"/batches/{ID}"}
    lines = ['{"index": 0, "text": "\u2028"}\n{"ind', 'ex": 1}\n']
    kiln, _ = kiln_of(httpx.Response(200, content="".join(lines).encode()))
    assert [line["index"] for line in kiln.operations.results(ID)] == [0, 1]


def test_an_id_is_looked_up_where_every_task_is(kiln_of):
    path = f"/proxy/imgvendor/v1/ai/image-upscaler/{ID}"
    item = httpx.Response(200, json={"family": "image", "path": path})
    kiln, seen = kiln_of(item, image(), image())
    task = kiln.read(ID)
    assert (task.path, kiln.read(task).state) == (path, "succeeded")
    assert [request.url.path for request in seen] == [f"/tasks/{ID}", path, path]
    kiln, _ = kiln_of(reject(404, "task_not_found"))
    with pytest.raises(NotFoundError):
        kiln.read(ID)


DETAIL = {"task_id": ID, "state": "done", "progress": 100}
VIDEO_FILES = [
    {"name": f"{name}", "url": f"https://a.example/{name}"}
    for name in ("video.mp4", "cover.jpg", "video-2.mp4", "watermarked-2.mp4")
]


@pytest.mark.parametrize(
    ("detail", "files"),
    [
        (
            {"family": "image", "status": "COMPLETED", "results": [{"name": "1.png", "url": LINK}]},
            [(LINK, None, None)],
        ),
        (
            {"family": "video", "status": "success", "results": VIDEO_FILES},
            [
                ("https://a.example/video.mp4", "https://a.example/cover.jpg", None),
                ("https://a.example/video-2.mp4", None, "https://a.example/watermarked-2.mp4"),
            ],
        ),
    ],
)
def test_a_token_for_one_task_reads_it_by_the_route_of_all_kinds(kiln_of, detail, files):
    path = f"/tasks/{ID}"
    body = {**DETAIL, **detail, "path": "/proxy", "warnings": ["One frame."]}
    first, second = (httpx.Response(200, json=body) for _ in range(2))
    kiln, seen = kiln_of(first, reject(404, "not_found"), second, token="kiln_task_a")
    task = kiln.read(ID)
    assert (task.state, task.path, task.warnings) == ("succeeded", path, ("One frame.",))
    assert [(each.url, each.cover_url, each.watermarked_url) for each in task.files] == files
    # Without a stream it goes on by the status, which is read here, too.
    assert kiln.wait(ID).files == task.files
    assert {request.url.path for request in seen} == {path, f"{path}/stream"}


def test_a_task_that_is_cancelled_is_returned_as_it_is_then(kiln_of):
    ended = {"id": ID, "state": "failed", "err_code": "UserCancelled", "err_msg": "It was."}
    kiln, seen = kiln_of(
        *(image("CREATED"), image("FAILED"), image("FAILED")),
        httpx.Response(200, json={"family": "video", "path": f"/proxy/vidvendor/tasks/{ID}"}),
        *(httpx.Response(200, json={}), httpx.Response(200, json=ended)),
    )
    task = kiln.cancel(kiln.relight(image=LINK))
    assert (task.state, task.status) == ("failed", "FAILED")
    assert kiln.cancel(ID).error.code == "UserCancelled"
    paths = [request.url.path for request in seen[1:]]
    images, videos = f"/proxy/imgvendor/v1/ai/image-relight/{ID}", f"/proxy/vidvendor/tasks/{ID}"
    after = [f"/tasks/{ID}", f"{videos}/cancel", f"{videos}/creations"]
    assert paths == [f"{images}/cancel", images, *after]


SAID = {"engine_error": "no face"}
FAILURE = {"code": "engine_failed", "message": "It failed."}


@pytest.mark.parametrize(
    "record",
    [
        {"data": {"task_id": ID, "status": "FAILED", "error": {**FAILURE, **SAID}}},
        {"id": ID, "state": "failed", "err_code": "engine_failed", "err_msg": "It failed.", **SAID},
        {"task_id": ID, "family": "image", "status": "FAILED", "error": FAILURE, **SAID},
    ],
)
def test_an_error_says_what_the_engine_said(record):
    error = read_task(record).error
    assert (error.code, error.engine_error) == ("engine_failed", "no face")
    assert str(error) == "engine_failed: It failed. (engine: no face)"


def test_a_task_says_what_of_its_request_takes_no_effect(kiln_of):
    def warned(status, *warnings):
        response = image(status).json()
        response["data"]["warnings"] = list(warnings)
        return response

    made, ended = warned("CREATED", "One."), warned("COMPLETED", "One.", "Two.")
    film = {"task_id": ID, "state": "created", "warnings": ["Three."]}
    kiln, _ = kiln_of(
        httpx.Response(200, json=made), stream((1, "end", ended)), httpx.Response(200, json=film)
    )
    task = kiln.upscale(image=LINK)
    assert (task.warnings, kiln.wait(task).warnings) == (("One.",), ("One.", "Two."))
    assert kiln.text_to_video(prompt="Sea").warnings == ("Three.",)


def test_a_time_is_sent_as_an_instant_at_any_depth(kiln_of):
    kiln, seen = kiln_of(*(image() for _ in range(3)), httpx.Response(202, json={"batch_id": "b"}))
    east = timezone(timedelta(hours=2))
    time = datetime(2030, 1, 31, 12, 30, tzinfo=east)
    instant = "2030-01-31T10:30:00+00:00"
    kiln.relight(image=LINK, kiln_start_after=time)
    # Without a zone it is that of this machine.
    kiln.relight(image=LINK, kiln_start_after=time.astimezone().replace(tzinfo=None))
    kiln.templates.create_task("one", kiln_start_after=time)
    kiln.batches.create([{"path": "/a", "body": {"kiln_start_after": time.astimezone(UTC)}}])
    *tasks, batch = [json.loads(request.content) for request in seen]
    given = [*tasks, batch["requests"][0]["body"]]
    assert [body["kiln_start_after"] for body in given] == [instant] * 4
    with pytest.raises(ArgumentError, match="^a body must be of JSON and times, got set$"):
        kiln.batches.create([{"path": "/a", "body": {"parts": {1}}}])
    assert len(seen) == 4


SECRET = "s3cr3t"


@pytest.mark.parametrize(
    ("named", "given"),
    [
        ("token", {"token": f"{SECRET}\n"}),
        ("token", {"token": ""}),
        ("token", {"token": 5}),
        ("token", {"token": f"Bearer {SECRET}"}),
        ("token", {"token": lambda: f"{SECRET}\r\n"}),
        ("token", {"token": lambda: None}),
        ("api_key", {"api_key": f"{SECRET}\n"}),
        ("api_key", {"api_key": f"{SECRET}\u00fc"}),
        ("idempotency_key", {"key": f"{SECRET}\n"}),
        ("idempotency_key", {"key": ""}),
    ],
)
def test_a_malformed_credential_or_key_is_an_error_of_the_caller_at_once(kiln_of, named, given):
    options = dict(given)
    key = options.pop("key", None)
    seen = []
    with pytest.raises(ArgumentError, match=f"^{named} must be") as caught:
        kiln, seen = kiln_of(image(), **options)
        kiln.relight(image=LINK, **({} if key is None else {"idempotency_key": key}))
    assert (SECRET in str(caught.value), seen) == (False, [])


@pytest.mark.parametrize(
    "address",
    [None, "", "kiln.test", "localhost:8080", "ftp://kiln.test", "http://kiln.test\n", "http://"]
    + [f"http://a:{SECRET}@kiln.test", f"http://kiln.test?{SECRET}", "http://kiln.test:port"],
)
def test_a_malformed_address_is_an_error_of_the_caller_at_once(make, address):
    with pytest.raises(ArgumentError, match="^base_url must be") as caught:
        make(address)
    assert SECRET not in str(caught.value)


def test_what_becomes_a_header_or_a_path_is_checked_before_it_is_sent(kiln_of, tmp_path):
    kiln, seen = kiln_of(token=SECRET)
    for named, call in [
        (
            "the header accept-language",
            lambda: kiln.request("GET", "/a", headers={"accept-language": "de\n"}),
        ),
        ("path", lambda: kiln.request("GET", "@b.test/")),
        ("link", lambda: kiln.save("file.png", tmp_path / "a")),
        ("an id", lambda: kiln.read("..")),
        ("an id", lambda: kiln.batches.cancel("")),
        ("an id", lambda: kiln.registry.version("a", "..")),
        ("token", lambda: kiln.registry.publish(tmp_path, token=f"{SECRET}\n")),
    ]:
        with pytest.raises(ArgumentError, match=f"^{named} must") as caught:
            call()
        assert SECRET not in str(caught.value)
    assert seen == []


@pytest.mark.parametrize("own", [{}, {"api_key": SECRET}])
def test_a_publication_is_followed_with_its_token_where_there_is_no_other_credential(
    kiln_of, tmp_path, own
):
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "a"\nversion = "1.0.0"\n')
    version = {
        "version": "1.0.0",
        "status": "NodeVersionStatusActive",
        "status_reason": "",
        "host_node_extract_status": "success",
    }
    made = {"node_version": version, "signedUrl": "http://kiln.test/uploads/a"}
    kiln, seen = kiln_of(
        httpx.Response(201, json=made),
        httpx.Response(200, json={}),
        stream((1, "end", version)),
        **own,
    )
    assert kiln.registry.publish(tmp_path, publisher="p", token="pat").state == "active"
    *before, followed = [request.headers for request in seen]
    assert all("authorization" not in headers for headers in before)
    assert followed.get("authorization") == (None if own else "Bearer pat")
    assert followed.get("x-api-key") == own.get("api_key")


def test_a_file_whose_requests_are_no_lines_is_not_sent(kiln_of, tmp_path):
    kiln, seen = kiln_of()
    line = '{"path": "/a", "body": {}}'
    for content, message in [
        (f"\ufeff{line}".encode(), "without a byte order mark$"),
        (f"\ufeff{line}".encode("utf-16-le"), "got UTF-16$"),
        (line.encode("utf-16-le"), "got UTF-16$"),
        (f"\n[{line}]".encode(), "got a JSON array$"),
    ]:
        path = tmp_path / "requests.jsonl"
        path.write_bytes(content)
        for source in (content, path):
            with pytest.raises(ArgumentError, match=message):
                kiln.batches.create(source)
    assert seen == []


def test_an_empty_filter_needs_all(kiln_of):
    made = httpx.Response(202, json={"operation_id": ID})
    kiln, seen = kiln_of(made, httpx.Response(200, json={"dry_run": True, "matched": 2}), made)
    for filter in ({}, {"label": None}, {"q": ""}):
        for act in (kiln.operations.create, kiln.operations.count):
            with pytest.raises(ArgumentError, match="^filter must not be empty"):
                act("delete", filter)
    with pytest.raises(ArgumentError, match="^all must be absent"):
        kiln.operations.create("delete", {"state": ["done"]}, all=True)
    assert seen == []
    assert kiln.operations.create("delete", {}, all=True) == ID
    assert kiln.operations.count("delete", {}, all=True) == 2
    assert kiln.operations.create("delete", {"state": ["done"]}) == ID
    everything = {"action": "delete", "filter": {}, "all": True}
    assert [json.loads(request.content) for request in seen] == [
        everything,
        {**everything, "dry_run": True},
        {"action": "delete", "filter": {"state": ["done"]}},
    ]


def test_a_response_of_an_earlier_request_says_when_and_what_became_of_it(kiln_of):
    earlier = {"idempotent-replayed": "true"}
    item = {
        "created_at": "2026-01-31T10:00:00Z",
        "state": "done",
        "ended_at": "2026-01-31T10:00:09Z",
    }
    found = [httpx.Response(200, json=item) for _ in range(3)]
    kiln, seen = kiln_of(
        *(image(headers=earlier), found[0]),
        *(image(headers=earlier), reject(404, "task_not_found")),
        image(headers=earlier),
        *(httpx.Response(202, json={"batch_id": "b"}, headers=earlier), found[1]),
        *(httpx.Response(202, json={"operation_id": "o"}, headers=earlier), found[2]),
    )
    assert kiln.relight(image=LINK, idempotency_key="one").replayed == tuple(item.values())
    assert kiln.relight(image=LINK, idempotency_key="one").replayed == (None, None, None)
    # A key of the client's own is that of an attempt before.
    assert kiln.relight(image=LINK).replayed is None
    reported = []
    options = {"idempotency_key": "one", "on_replay": reported.append}
    assert kiln.batches.create([], **options) == "b"
    assert kiln.operations.create("cancel", {"state": ["queued"]}, **options) == "o"
    assert reported == [tuple(item.values())] * 2
    paths = [request.url.path for request in seen if request.method == "GET"]
    assert paths == [f"/tasks/{ID}", f"/tasks/{ID}", "/batches/b", "/operations/o"]


def test_a_wait_that_is_cancelled_closes_its_stream():
    from kiln_client import AsyncKiln

    closed = asyncio.Event()

    class Endless(httpx.AsyncByteStream):
        async def __aiter__(self):
            yield b": open\n\n"
            await asyncio.sleep(600)

        async def aclose(self):
            closed.set()

    async def main():
        def handle(request):
            if request.method == "POST":
                return image("CREATED")
            return httpx.Response(
                200, stream=Endless(), headers={"content-type": "text/event-stream"}
            )

        client = httpx.AsyncClient(transport=httpx.MockTransport(handle))
        async with AsyncKiln("http://kiln.test", client=client) as kiln:
            task = await kiln.relight(image=LINK)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await kiln.wait(task)
        assert closed.is_set()

    asyncio.run(main())
