# Calls run where they are submitted, in that order. Processes, which share nothing, are unknown.
FIRST_COMPLETED, FIRST_EXCEPTION, ALL_COMPLETED = 'FIRST_COMPLETED', 'FIRST_EXCEPTION', 'ALL_COMPLETED'


class Future:
    _result = _exception = None

    def result(self, timeout=None):
        if self._exception is not None:
            raise self._exception
        return self._result

    __await__ = get = result


class Executor:
    def __init__(self, *args, initializer=None, initargs=(), **options):
        if initializer is not None:
            _outcome(initializer, initargs, {})

    def __enter__(self):
        return self

    def __exit__(self, *args, **options):
        return None

    shutdown = close = terminate = join = __exit__

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        future._result, future._exception = _outcome(fn, args, kwargs)
        return future

    def map(self, fn, *iterables, **options):
        futures = []
        for items in zip(*iterables):
            futures.append(self.submit(fn, *items))
        return (future.result() for future in futures)


ThreadPoolExecutor = Executor


def as_completed(fs, timeout=None):
    return iter(fs)
