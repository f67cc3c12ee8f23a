from concurrent.futures import Future, as_completed
from threading import Event, Lock, Semaphore, _quiet


# The host imports packs while its loop runs. Tasks run at once, but for those of that loop: they come too late.
def run(value, *args, **kwargs):
    if _loop():
        raise RuntimeError('asyncio.run() cannot be called from a running event loop')
    return _run(value)


class Task(Future):
    def __init__(self, value, *args, **kwargs):
        self._result, self._exception = _outcome(_run, (value,), {})


def run_coroutine_threadsafe(value, *args, **kwargs):
    return value if _sure(isinstance(value, Future)) else Task(value)


def create_task(value, *args, **kwargs):
    return Future() if _loop() == 'host' else run_coroutine_threadsafe(value)


ensure_future = wrap_future = create_task


def gather(*values, return_exceptions=False):
    tasks = [run_coroutine_threadsafe(value) for value in values]
    return [task._exception if return_exceptions and task._exception else task.result() for task in tasks]


def sleep(delay, result=None):
    return result


set_event_loop = set_event_loop_policy = _quiet


class AbstractEventLoop:
    close = stop = run_forever = __exit__ = _quiet

    def __enter__(self):
        return self

    def run(self, value, **options):
        return run(value)

    run_until_complete = run
    _runs = False

    def create_task(self, value, **options):
        return create_task(value)

    def is_running(self):
        return self._runs


TaskGroup = Runner = new_event_loop = AbstractEventLoop


def get_event_loop():
    loop = AbstractEventLoop()
    loop._runs = _loop() is not None
    return loop


def get_running_loop():
    if not _loop():
        raise RuntimeError('no running event loop')
    return get_event_loop()
