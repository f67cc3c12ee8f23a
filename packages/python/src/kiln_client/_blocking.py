"""The two things that the code of both clients does in its own way; the name of one is that of the other without `async_`."""

import time
from collections.abc import Callable
from typing import TypeVar

import anyio
import anyio.to_thread

T = TypeVar("T")

sleep = time.sleep
async_sleep = anyio.sleep


def call(work: Callable[[], T]) -> T:
    """Does what blocks."""
    return work()


async def async_call(work: Callable[[], T]) -> T:
    """Does what blocks in a thread of its own."""
    return await anyio.to_thread.run_sync(work)
