# `isinstance` holds for builtin values of a class's kinds, for instances of its subclasses, and for all with its method.
# A class that a pack derives from one of these has neither kinds nor method.
class ABCMeta(type):
    def __instancecheck__(cls, value):
        kind, names = _kind(value), cls.__dict__
        if _is_unknown(kind):
            return kind
        if kind != 'instance':
            return kind in names.get('_kinds', ())
        mro = type(value).__mro__
        return _sure(cls in mro) or any(names.get('_method') in base.__dict__ for base in mro)

    def register(cls, other):
        return other


class Hashable(metaclass=ABCMeta):
    _kinds = 'str number None tuple bytes frozenset range function native class module'.split()


class Callable(metaclass=ABCMeta):
    _kinds = 'function native class method'.split()
    _method = '__call__'


class Iterable(metaclass=ABCMeta):
    _kinds = 'str list tuple set frozenset dict view range bytes iterator'.split()
    _method = '__iter__'


class Iterator(Iterable):
    _kinds = ('iterator',)


class Collection(Iterable):
    _kinds = 'str list tuple set frozenset dict view range bytes'.split()


class Sequence(Collection):
    _kinds = 'str list tuple range bytes'.split()


class Set(Collection):
    _kinds = 'set frozenset'.split()


# What a class with `__getitem__` and `__iter__` inherits.
class Mapping(Collection):
    _kinds = ('dict',)

    def get(self, key, default=None):
        found = key in self
        return found if _is_unknown(found) else self[key] if found else default

    def keys(self):
        return _dict_of(self).keys()

    def values(self):
        return _dict_of(self).values()

    def items(self):
        return _dict_of(self).items()

    def __contains__(self, key):
        return key in [*self]


def _dict_of(mapping):
    return {key: mapping[key] for key in mapping}


class MutableMapping(Mapping):
    _kinds = ('dict',)

    def update(self, other=(), /, **names):
        for key, value in _known({**dict(other), **names}.items()):
            self[key] = value

    def setdefault(self, key, default=None):
        found = key in self
        if _is_unknown(found):
            return found
        if found:
            return self[key]
        self[key] = default
        return default

    def pop(self, key, default=_ABSENT):
        found = key in self
        if _is_unknown(found):
            return found
        if not found:
            return _missing('KeyError') if _sure(default is _ABSENT) else default
        value = self[key]
        del self[key]
        return value
