from collections import _named_tuple

# What isn't here is an unknown, which can be subscripted like any.
TYPE_CHECKING = False
Dict, List, Tuple, Set, FrozenSet, Type, Text = dict, list, tuple, set, frozenset, type, str


class Protocol:
    pass


class Generic:
    pass


def cast(type, value):
    return value


def _same(value):
    return value


overload = final = override = runtime_checkable = _same


def get_args(type):
    return getattr(type, '__args__', _unknown('typing.get_args()'))


class _LiteralAlias:
    def __init__(self, values):
        self.__args__ = tuple(values)
        self.__origin__ = Literal


# Keeps its values, flat and each once: packs make lists of choices from them.
class _LiteralForm:
    def __getitem__(self, key):
        values = []
        for item in key if isinstance(key, tuple) else (key,):
            for value in item.__args__ if _sure(isinstance(item, _LiteralAlias)) else (item,):
                if not _sure(value in values):
                    values.append(value)
        return _LiteralAlias(values)


Literal = _LiteralForm()


class _NamedTupleMeta(type):
    def __new__(metacls, name, bases, names):
        if name == 'NamedTuple' and not bases:
            return super().__new__(metacls, name, bases, names)
        fields = tuple(names.get('__annotations__', {}))
        defaults = {field: names[field] for field in fields if field in names}
        others = {key: value for key, value in names.items() if key not in fields}
        return _named_tuple(name, fields, defaults, names.get('__module__'), others)

    # `NamedTuple('Row', [('title', str)])`.
    def __call__(cls, typename, fields=(), **more):
        return _named_tuple(typename, (*(name for name, _ in fields), *more), {})


# A class with it as base is a named tuple of its annotations.
class NamedTuple(metaclass=_NamedTupleMeta):
    pass


# Its classes make dicts; `TypedDict('Row', {...})` makes such a class.
class TypedDict(dict):
    def __new__(cls, *args, **kwargs):
        return type(args[0], (cls,), {}) if cls is TypedDict and args else dict.__new__(cls)
