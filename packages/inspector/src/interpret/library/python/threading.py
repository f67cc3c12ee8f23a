# Threads run where they are started; locks are free.
def _quiet(*args, **kwargs):
    return None


# What one writes that nobody waits for may not be there in time.
class Thread:
    _written = None

    def __init__(self, group=None, target=None, name=None, args=(), kwargs=None, *, daemon=None):
        self._target, self._args, self._kwargs = target, args, kwargs
        self.name, self.daemon = name, daemon

    def run(self):
        if self._target is not None:
            self._target(*self._args, **(self._kwargs or {}))

    def start(self):
        self._written = _thread(self.run, self.daemon or _sleeps(self._target))

    def join(self, timeout=None):
        _join(self._written)


# A context manager whose other methods do nothing.
class Lock:
    __init__ = __exit__ = release = set = clear = notify = notify_all = _quiet

    def __enter__(self):
        return self

    def acquire(self, *args, **kwargs):
        return True

    def wait(self, *args, **kwargs):
        return True

    def is_set(self):
        return False


RLock = Condition = Semaphore = BoundedSemaphore = Event = Lock


class local:
    pass
