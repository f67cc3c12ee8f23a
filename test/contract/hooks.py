"""What schemathesis knows of Kiln beside the document: usable inputs, and failures that are none, each with its reason."""

import itertools
import os
import re

import schemathesis

IMAGE = os.environ["KILN_IMAGE"]
IMAGE_URL = os.environ["KILN_IMAGE_URL"]
NUMBERS = itertools.count()

# Members that hold an address or an image. No pattern can say which hosts there are and which bytes are an image; a
# request that is to be accepted gets one, and nothing outside of this machine is called.
INPUTS = {
    "image": IMAGE,
    "transfer_light_from_lightmap": IMAGE,
    "transfer_light_from_reference_image": IMAGE,
    "webhook_url": IMAGE_URL,
    "callback_url": IMAGE_URL,
    "video_url": IMAGE_URL,
    "wm_url": IMAGE_URL,
    "url": IMAGE_URL,
    "personal_access_token": os.environ["KILN_PERSONAL_ACCESS_TOKEN"],
}


@schemathesis.hook
def before_call(context, case, kwargs):
    name_request_once(case)
    mode = case.meta.generation.mode if case.meta else None
    if mode is not None and mode.is_positive and isinstance(case.body, dict):
        for name, value in INPUTS.items():
            if isinstance(case.body.get(name), str):
                case.body[name] = value
        if isinstance(case.body.get("images"), list):
            case.body["images"] = [IMAGE for _ in case.body["images"]]


def name_request_once(case):
    """A key that has named another request is rejected, or gets the response of that one: each request gets one of its own."""
    key = (case.headers or {}).get("Idempotency-Key")
    if isinstance(key, str) and re.fullmatch(r'"[!#-~]{1,255}"|[!#-~][!-~]{0,254}', key):
        case.headers["Idempotency-Key"] = f"contract-{next(NUMBERS)}"


REJECTED = "Schema-valid request rejected"
ACCEPTED = "Schema-violating request accepted"

# Failures that are none: what schemathesis calls it, the operation, what the response says, and why that is right.
FALSE_ALARMS = [
    (
        REJECTED,
        r"GET /nodes/search|GET /versions|GET /proxy/vidvendor/tasks|GET /admin/reviews|GET /nodes/\{nodeId\}/reviews",
        r"page × \w+ is at most",
        "The product of two parameters has a limit, which JSON Schema cannot say.",
    ),
    (
        REJECTED,
        r"GET /proxy/vidvendor/tasks",
        r"must be a next_page_token of this list",
        "Only a page before makes such a token.",
    ),
    (
        REJECTED,
        r"GET /tasks|GET /events|GET /admin/tasks",
        r"after must be a next of this list",
        "Only a page before makes such a token.",
    ),
    (
        REJECTED,
        r"GET /versions",
        r"sort must not be \S*review",
        "This order is that of requests for a review, which the other parameter leaves out.",
    ),
    (
        REJECTED,
        r"GET /nodes",
        r"must be absent with include_removed",
        "Which parameters go together is said in words.",
    ),
    (
        REJECTED,
        r"GET /nodes/\{nodeId\}/downloads",
        r"from must be at most 365 days before",
        "No schema knows the time, nor how far apart two days are.",
    ),
    (
        REJECTED,
        r"GET /publishers/validate",
        r"must not be taken",
        "The response to the question that the route is for.",
    ),
    (
        REJECTED,
        r"GET /tasks/(\{task_id\}/)?stream",
        r"Last-Event-ID must be (the id of an event of this task|an id that this stream gave)",
        "Only the stream itself makes such an id.",
    ),
    (
        REJECTED,
        r"GET .*endpoints/\{endpoint_id\}/events",
        r"before must be the id of an event of this endpoint",
        "Only a page before has such an id.",
    ),
    (
        REJECTED,
        r"POST .*/trusted-publishers",
        r"/(claims|issuer)",
        "Which claims and which issuer go with a provider is said in words.",
    ),
    (
        REJECTED,
        r".*",
        r"a string holds \S*u0000|the key \S*__proto__\S* is not allowed",
        "The document forbids them in each text and map that it names. It names no members that are ignored, which are read, too.",
    ),
    (
        REJECTED,
        r"POST /proxy/vidvendor/[\w-]+2video",
        r"meta_data must be a JSON text",
        "contentMediaType says so; no pattern can.",
    ),
    (
        REJECTED,
        r"POST /users/api-keys|POST /publishers/\{publisherId\}/tokens",
        r"must be an ISO 8601 date-time in the future",
        "No schema knows the time.",
    ),
    (
        REJECTED,
        r"(PUT|POST) /publishers/\{publisherId\}/nodes/.*|PUT /admin/nodes/\{nodeId\}|POST /proxy/vidvendor/tasks/\{task_id\}/cancel",
        r"must be the id in the path",
        "A schema of a body cannot name a parameter of the path.",
    ),
    (
        REJECTED,
        r"PUT /publishers/\{publisherId\}/nodes/\{nodeId\}|PUT /admin/nodes/\{nodeId\}",
        r"/publisher/id must be \w+, which the node keeps",
        "No schema knows whose node it is.",
    ),
    (
        REJECTED,
        r"PUT /admin/nodes/\{nodeId\}",
        r"the body must set one of",
        "The body is that of PUT /publishers/{publisherId}/nodes/{nodeId}, too, which takes an empty one.",
    ),
    (
        REJECTED,
        r"PUT .*",
        r'"precondition_failed"',
        "If-Match names another state: that is what it is for.",
    ),
    (
        REJECTED,
        r"GET /files/.*|GET /archives/.*",
        r'"range_not_satisfiable"',
        "No schema knows how long the file is.",
    ),
    (
        REJECTED,
        r"POST /proxy/vidvendor/tasks/\{task_id\}/cancel",
        r'"cannot_cancel"',
        "The task has ended meanwhile. Clients of video routes expect 400 where others get 409.",
    ),
    (
        ACCEPTED,
        r"GET /nodes",
        r"^$",
        "A text in place of a list is a list of one on the wire. `If-None-Match: *` gets a 304 for it, without a body.",
    ),
    (
        "Server error",
        r"GET /ready",
        r'"status":"unready"',
        "The response to the question that the route is for: on a busy machine PostgreSQL may take longer than a second.",
    ),
    (
        "Deleted resource still available",
        r"GET .*\{task_id\}.*",
        r'"(deleted_at|sequence)"',
        "The row of a task stays, without content, and so does its log: whoever reads it sees that it is deleted.",
    ),
    (
        "SSE event violates schema",
        r"GET .*/stream",
        r"event: ",
        "Before OpenAPI 3.2 a schema describes the text of a stream. schemathesis takes it for that of one event.",
    ),
]


@schemathesis.hook
def filter_failure(context, failure, case, response):
    seen = f"{case.operation.method.upper()} {case.operation.path}"
    if failure.title == ACCEPTED and is_empty(failure, case.body):
        # An empty text counts as absent, as publishing tools send it. The document does not recommend it.
        return False
    return not any(
        failure.title == title and re.fullmatch(operation, seen) and re.search(said, response.text)
        for title, operation, said, _ in FALSE_ALARMS
    )


def is_empty(failure, body):
    """Whether the member that breaks the schema is an empty text."""
    name = re.search(r"in body - (\w+):", failure.message)
    return name is not None and isinstance(body, dict) and body.get(name[1]) == ""
