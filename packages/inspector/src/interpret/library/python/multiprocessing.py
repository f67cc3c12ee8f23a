from concurrent.futures import Executor as _Executor, ProcessPoolExecutor as _ProcessPoolExecutor


class ThreadPool(_Executor):
    def apply(self, func, args=(), kwds={}):
        return self.submit(func, *args, **kwds).result()

    def apply_async(self, func, args=(), kwds={}, callback=None, error_callback=None):
        future = self.submit(func, *args, **kwds)
        if future.exception() is None and callback is not None:
            callback(future.result())
        return future

    def map(self, func, iterable, chunksize=None):
        return list(super().map(func, iterable))

    imap = imap_unordered = map

    def starmap(self, func, iterable, chunksize=None):
        return self.map(lambda items: func(*items), iterable)

    def map_async(self, func, iterable, chunksize=None, callback=None, error_callback=None):
        return self.apply_async(lambda: self.map(func, iterable), callback=callback)

    def starmap_async(self, func, iterable, chunksize=None, callback=None, error_callback=None):
        return self.apply_async(lambda: self.starmap(func, iterable), callback=callback)


class Pool(ThreadPool):
    _outcome = staticmethod(_isolated)


# What a process does is lost on who starts it.
class Process:
    def __init__(self, *args, **kwargs):
        return None

    start = run = join = terminate = kill = close = __init__
