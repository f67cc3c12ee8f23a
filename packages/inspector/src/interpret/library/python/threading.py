# Threads never run; locks are free.
def _quiet(*args, **kwargs):
    return None


class Thread:
    __init__ = start = join = setDaemon = cancel = run = _quiet

    def is_alive(self):
        return False


class Timer(Thread):
    pass


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
