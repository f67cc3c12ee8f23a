# Threads run where they are started; locks are free.
def _quiet(*args, **kwargs):
    return None


# What one writes that nobody waits for may not be there in time.
class Thread:
    def __init__(self, group=None, target=None, name=None, args=(), kwargs=None, *, daemon=None):
        self._target, self._args, self._kwargs = target, args, kwargs
        self.name, self.daemon = name, daemon

    def run(self):
        if self._target is not None:
            self._target(*self._args, **(self._kwargs or {}))

    def start(self):
        self._written = _thread(self.run, self.daemon)

    def join(self, timeout=None):
        _join(getattr(self, '_written', None))

    def is_alive(self):
        return False


class Timer(Thread):
    def __init__(self, interval, function, args=None, kwargs=None):
        super().__init__(target=function, args=args or (), kwargs=kwargs)

    def start(self):
        self._written = _thread(self.run, True)

    cancel = _quiet


# A context manager whose other methods do nothing.
class Lock:
    __init__ = __exit__ = release = set = clear = notify = notify_all = _quiet

    def __enter__(self):
        return self

    def acquire(self, *args, **kwargs):
        return True

    def locked(self):
        return False

    def wait(self, *args, **kwargs):
        return True

    def is_set(self):
        return False


class RLock(Lock):
    pass


class Condition(Lock):
    pass


class Semaphore(Lock):
    pass


class BoundedSemaphore(Lock):
    pass


class Event(Lock):
    pass


class local:
    pass
