class OrderedDict(dict):
    def __or__(self, other):
        return type(self)(dict(self) | dict(other))

    def __ror__(self, other):
        return type(self)(dict(other) | dict(self))

    # Its form changed with Python 3.12.
    def __repr__(self):
        return _unknown('collections.OrderedDict.__repr__()')

    def move_to_end(self, key, last=True):
        value = self.pop(key)
        others = {} if last else dict(self)
        if not last:
            self.clear()
        self[key] = value
        self.update(others)

    def popitem(self, last=True):
        if not len(self):
            return _missing('KeyError')
        key = list(self)[-1 if last else 0]
        return key, self.pop(key)

    def copy(self):
        return type(self)(self)


# A missing key calls the factory and keeps what it gives.
class defaultdict(dict):
    def __init__(self, default_factory=None, /, *args, **kwargs):
        self.default_factory = default_factory
        super().__init__(*args, **kwargs)

    def __missing__(self, key):
        if _sure(self.default_factory is None):
            return _missing('KeyError')
        self[key] = value = self.default_factory()
        return value

    def copy(self):
        return type(self)(self.default_factory, self)


class UserDict(dict):
    data = property(_content)


# A method of the list in a deque.
def _of_items(name):
    return lambda self, *args: getattr(self._items, name)(*args)


class deque:
    __hash__ = None

    def __init__(self, iterable=(), maxlen=None):
        self._items = []
        self.maxlen = maxlen
        self.extend(iterable)

    def append(self, item):
        self._items.append(item)
        self._cut(0)

    def appendleft(self, item):
        self._items.insert(0, item)
        self._cut(-1)

    # What is too much leaves at the other end.
    def _cut(self, end):
        if self.maxlen is not None and len(self._items) > self.maxlen:
            self._items.pop(end)

    def extend(self, iterable):
        for item in iterable:
            self.append(item)

    def extendleft(self, iterable):
        for item in iterable:
            self.appendleft(item)

    def popleft(self):
        return self._items.pop(0)

    def rotate(self, n=1):
        at = -n % len(self._items) if self._items else 0
        self._items = self._items[at:] + self._items[:at]

    pop, clear, reverse, remove, count, index = map(_of_items, 'pop clear reverse remove count index'.split())
    __iter__, __len__, __contains__ = map(_of_items, ('__iter__', '__len__', '__contains__'))
    __getitem__, __setitem__ = map(_of_items, ('__getitem__', '__setitem__'))

    def __eq__(self, other):
        return self._items == other._items if isinstance(other, deque) else NotImplemented


# `field_names` is a list, or one text with blanks or commas between; defaults belong to the last ones.
def namedtuple(typename, field_names, *, rename=False, defaults=None, module=None):
    names = field_names.replace(',', ' ').split() if isinstance(field_names, str) else field_names
    fields = tuple(names)
    if _is_open(fields):
        return _unknown('collections.namedtuple()')
    values = tuple(defaults or ())
    return _named_tuple(typename, fields, dict(zip(fields[len(fields) - len(values):], values)), module)


def _named_tuple(typename, fields, defaults, module=None, names=()):
    def __new__(cls, *args, **kwargs):
        if len(args) > len(fields) or any(name not in fields for name in kwargs):
            _missing('TypeError')
        given = {**defaults, **dict(zip(fields, args)), **kwargs}
        return tuple.__new__(cls, [given[name] if name in given else _unset(name) for name in fields])

    def _unset(name):
        return _error('TypeError', f'{typename}.{name}')

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in zip(fields, self))})"

    def getter(at):
        return property(lambda self: self[at])

    return type(typename, (tuple,), {
        '__module__': module or _caller(),
        '__new__': __new__,
        '__repr__': __repr__,
        '__match_args__': fields,
        '_fields': fields,
        '_field_defaults': defaults,
        '_make': classmethod(lambda cls, values: cls(*values)),
        '_asdict': lambda self: dict(zip(fields, self)),
        '_replace': lambda self, /, **changes: type(self)(**{**self._asdict(), **changes}),
        **{name: getter(at) for at, name in enumerate(fields)},
        **dict(names),
    })
