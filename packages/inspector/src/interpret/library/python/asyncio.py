from threading import Event, Lock, Semaphore


# A coroutine's body has run when it is called, so `run` has its result in hand.
def run(value, *args, **kwargs):
    return value


wait_for = create_task = ensure_future = run


def set_event_loop(*args, **kwargs):
    return None


set_event_loop_policy = sleep = set_event_loop


class AbstractEventLoop:
    close = stop = run_forever = call_soon = call_soon_threadsafe = call_later = set_event_loop

    def run_until_complete(self, value):
        return value

    def create_task(self, value, **options):
        return value

    def is_running(self):
        return False

    def is_closed(self):
        return False


def get_event_loop():
    return AbstractEventLoop()


new_event_loop = get_running_loop = get_event_loop
