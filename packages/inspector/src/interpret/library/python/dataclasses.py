class _Missing:
    pass


MISSING = _Missing()
FrozenInstanceError = AttributeError


class Field:
    def __init__(self, default=MISSING, default_factory=MISSING, init=True, repr=True, hash=None,
                 compare=True, metadata=None, kw_only=False):
        self.default, self.default_factory = default, default_factory
        self.init, self.repr, self.compare, self.kw_only = init, repr, compare, kw_only
        self.metadata = {} if metadata is None else metadata


def field(**options):
    return Field(**options)


def dataclass(cls=None, /, **options):
    if _sure(cls is None):
        return lambda cls: dataclass(cls, **options)
    return _decorate(cls, **options) if _sure(isinstance(cls, type)) else cls


def _decorate(cls, init=True, repr=True, eq=True, order=False, kw_only=False, **unused):
    fields = {}
    for base in cls.__mro__[:0:-1]:
        if _sure(isinstance(base, type)):
            fields.update(base.__dict__.get('__dataclass_fields__', {}))
    names = cls.__dict__
    for name, annotation in names.get('__annotations__', {}).items():
        if not _is_named(annotation, 'ClassVar'):
            fields[name] = _read_field(cls, name, annotation, names.get(name, MISSING), kw_only)
    cls.__dataclass_fields__ = fields
    known = list(fields.values())
    methods = {'__match_args__': tuple(f.name for f in known if f.init and not f.kw_only)}
    if init:
        methods['__init__'] = _initialiser(cls, known)
    if repr:
        methods['__repr__'] = lambda self: _unknown(f'{cls.__name__}.__repr__()')
    compared = [f.name for f in known if f.compare and not f.init_only]
    if eq:
        methods['__eq__'] = _comparer(compared, lambda a, b: a == b)
    if order:
        methods['__lt__'] = _comparer(compared, lambda a, b: a < b)
        methods['__le__'] = _comparer(compared, lambda a, b: a <= b)
        methods['__gt__'] = _comparer(compared, lambda a, b: a > b)
        methods['__ge__'] = _comparer(compared, lambda a, b: a >= b)
    for name, method in methods.items():
        if name not in names:
            setattr(cls, name, method)
    return cls


def _read_field(cls, name, annotation, value, kw_only):
    made = Field(value, kw_only=kw_only)
    if _sure(isinstance(value, Field)):
        made.__dict__.update(value.__dict__)
        made.kw_only = kw_only or value.kw_only
        # The class shows the default, not what describes it.
        if _sure(value.default is MISSING):
            delattr(cls, name)
        else:
            setattr(cls, name, value.default)
    made.name, made.type, made.init_only = name, annotation, _is_named(annotation, 'InitVar')
    return made


# `ClassVar[int]`, `typing.ClassVar`, or the text of one.
def _is_named(annotation, name):
    return _type_text(annotation).split('[')[0].split('(')[0].split('.')[-1] == name


def _initialiser(cls, fields):
    positional = [f.name for f in fields if f.init and not f.kw_only]
    names = [f.name for f in fields if f.init]

    def __init__(self, /, *args, **kwargs):
        if len(args) > len(positional) or any(name not in names for name in kwargs):
            _missing('TypeError')
        given = {**kwargs, **dict(zip(positional, args))}
        passed_on = []
        for f in fields:
            if f.init and f.name in given:
                value = given[f.name]
            elif not _sure(f.default_factory is MISSING):
                value = f.default_factory()
            elif f.init and not _sure(f.default is MISSING):
                value = f.default
            elif f.init:
                value = _error('TypeError', f'{cls.__name__}.{f.name}')
            else:
                # Not set by `__init__`: the class shows its default.
                continue
            if f.init_only:
                passed_on.append(value)
            else:
                setattr(self, f.name, value)
        after = getattr(type(self), '__post_init__', None)
        if after is not None:
            after(self, *passed_on)

    return __init__


# Instances of one class compare as the tuples of their fields.
def _comparer(names, compare):
    def method(self, other):
        if not _sure(type(self) is type(other)):
            return NotImplemented
        return compare(*[tuple(getattr(value, name) for name in names) for value in (self, other)])

    return method


def is_dataclass(value):
    return hasattr(value, '__dataclass_fields__')


def fields(value):
    return tuple(value.__dataclass_fields__.values())

