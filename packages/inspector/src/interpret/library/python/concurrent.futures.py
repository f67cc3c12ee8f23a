# Calls run where they are submitted, in that order.
from collections import namedtuple as _namedtuple

FIRST_COMPLETED, FIRST_EXCEPTION, ALL_COMPLETED = 'FIRST_COMPLETED', 'FIRST_EXCEPTION', 'ALL_COMPLETED'


class Future:
    _result = _exception = None

    def result(self, timeout=None):
        if self._exception is not None:
            raise self._exception
        return self._result

    __await__ = get = result

    def exception(self, timeout=None):
        return self._exception

    def add_done_callback(self, fn, **options):
        fn(self)

    def done(self):
        return True


class Executor:
    _outcome = staticmethod(_outcome)

    def __init__(self, *args, initializer=None, initargs=(), **options):
        if initializer is not None:
            self._outcome(initializer, initargs, {})

    def __enter__(self):
        return self

    def __exit__(self, *args, **options):
        return None

    shutdown = close = terminate = join = __exit__

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        future._result, future._exception = self._outcome(fn, args, kwargs)
        return future

    def map(self, fn, *iterables, **options):
        futures = []
        for items in zip(*iterables):
            futures.append(self.submit(fn, *items))
        return (future.result() for future in futures)


ThreadPoolExecutor = Executor


# Processes share nothing: what they change is lost.
class ProcessPoolExecutor(Executor):
    _outcome = staticmethod(_isolated)


def as_completed(fs, timeout=None):
    return iter(fs)


def wait(fs, timeout=None, return_when=ALL_COMPLETED):
    return _namedtuple('DoneAndNotDoneFutures', 'done not_done')(set(fs), set())
