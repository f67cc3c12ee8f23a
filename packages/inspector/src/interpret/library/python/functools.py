WRAPPER_ASSIGNMENTS = ('__module__', '__name__', '__qualname__', '__doc__')


def reduce(function, iterable, *initial):
    items = [*initial, *iterable]
    if _is_open(items) or not items:
        return _unknown('functools.reduce()')
    total = items[0]
    for item in items[1:]:
        total = function(total, item)
    return total


def update_wrapper(wrapper, wrapped, *unused, **options):
    for name in WRAPPER_ASSIGNMENTS:
        value = getattr(wrapped, name, _ABSENT)
        if not _sure(value is _ABSENT):
            setattr(wrapper, name, value)
    for name, value in dict(getattr(wrapped, '__dict__', ())).items():
        setattr(wrapper, name, value)
    wrapper.__wrapped__ = wrapped
    return wrapper


def wraps(wrapped, *unused, **options):
    return lambda wrapper: update_wrapper(wrapper, wrapped)


# With and without arguments.
def lru_cache(function=None, *unused, **options):
    return _cached(function) if _sure(callable(function)) else _cached


cache = lru_cache


class partial:
    def __new__(cls, func, /, *args, **keywords):
        if _sure(type(func) is cls):
            args, keywords, func = func.args + args, {**func.keywords, **keywords}, func.func
        self = object.__new__(cls)
        self.func, self.args, self.keywords = func, args, keywords
        return self

    def __call__(self, /, *args, **keywords):
        return self.func(*self.args, *args, **{**self.keywords, **keywords})


def singledispatch(function):
    registry = {}
    unread = []

    def register(cls, method=None):
        if _sure(isinstance(cls, type)):
            if method is None:
                return lambda method: register(cls, method)
            registry[cls] = method
            return method
        types = [type for name, type in getattr(cls, '__annotations__', {}).items() if name != 'return']
        if types and _sure(isinstance(types[0], _type)):
            registry[types[0]] = cls
        else:
            unread.append(cls)
        return cls

    def dispatch(*args, **kwargs):
        if not args or _is_unknown(args[0]):
            return _unknown('functools.singledispatch()')
        for cls in _type(args[0]).__mro__:
            if _sure(cls in registry):
                return registry[cls](*args, **kwargs)
        if unread:
            return _unknown('functools.singledispatch()')
        return function(*args, **kwargs)

    dispatch.register = register
    return dispatch


_type = type
