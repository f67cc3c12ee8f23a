class auto:
    value = None


# The metaclass makes the members of a class body, and finds them by name and value.
class EnumType(type):
    def __new__(metacls, name, bases, body, **options):
        members = {}
        names = {'_member_map_': {}, '_member_names_': []}
        for key, value in body.items():
            is_member = not (key.startswith('_') and key.endswith('_')) and not _is_descriptor(value)
            (members if is_member else names)[key] = value
        options.pop('boundary', None)
        cls = super().__new__(metacls, name, bases, names, **options)
        values = []
        for key, value in members.items():
            _add_member(cls, key, _without_auto(cls, key, value, values), values)
        return cls

    def __init__(cls, *args, **options):
        pass

    # `Color(1)` finds a member; `Enum('Color', 'RED GREEN')` makes an enum, of which nothing is known.
    def __call__(cls, value, names=None, **options):
        return _find(cls, value) if names is None else _unknown('enum.EnumType.__call__()')

    __members__ = property(lambda cls: cls._member_map_)

    def __iter__(cls):
        return iter(_members(cls))

    def __len__(cls):
        return len(cls._member_names_)

    def __bool__(cls):
        return True

    def __getitem__(cls, name):
        return cls._member_map_[name]

    # A member, or since Python 3.12 the value of one.
    def __contains__(cls, value):
        members = _members(cls)
        return value in members or value in [member._value_ for member in members]


EnumMeta = EnumType


def _members(cls):
    return [cls._member_map_[name] for name in cls._member_names_]


# `auto()`, alone or in a tuple, stands for the next value.
def _without_auto(cls, key, value, values):
    if _sure(isinstance(value, auto)):
        # `B = A` is the value that A got.
        if value.value is None:
            value.value = cls._generate_next_value_(key, 1, len(values), list(values))
        return value.value
    if _sure(isinstance(value, tuple)):
        return tuple(_without_auto(cls, key, item, values) for item in value)
    return value


def _add_member(cls, key, value, values):
    args = value if _sure(isinstance(value, tuple)) else (value,)
    member = _own_new(cls)(cls, *args)
    if '_value_' not in member.__dict__:
        content = _content(member)
        member._value_ = value if content is member else content
    values.append(member._value_)
    for other in _members(cls):
        if _sure(other._value_ == member._value_):
            break
    else:
        other = member
        member._name_ = key
        cls._member_names_.append(key)
        if not _sure(cls.__init__ is object.__init__):
            cls.__init__(member, *args)
    cls._member_map_[key] = other
    setattr(cls, key, other)


# Of the pack, or of the builtin type that the members are values of.
def _own_new(cls):
    for base in cls.__mro__:
        if _sure(isinstance(base, type)) and '__new__' in base.__dict__:
            return base.__new__
    return object.__new__


def _find(cls, value):
    members = _members(cls)
    if _is_unknown(value):
        return _unknown('enum.EnumType.__call__()')
    for member in members:
        if member is value or _sure(member._value_ == value):
            return member
    if not _sure(value not in [member._value_ for member in members]):
        return _unknown('enum.EnumType.__call__()')
    found = cls._missing_(value)
    return _error('ValueError', f'no {cls.__name__}') if found is None else found


class Enum(metaclass=EnumType):
    name = property(lambda self: self._name_)
    value = property(lambda self: self._value_)

    def _generate_next_value_(name, start, count, values):
        return max([0, *[value for value in values if isinstance(value, int)]]) + 1

    @classmethod
    def _missing_(cls, value):
        return None

    def __str__(self):
        return f'{type(self).__name__}.{self._name_}'

    def __repr__(self):
        return f'<{type(self).__name__}.{self._name_}: {self._value_!r}>'

    def __format__(self, spec):
        return format(str(self), spec)


# Enums that print as their value.
class ReprEnum(Enum):
    def __str__(self):
        return str(self._value_)

    def __format__(self, spec):
        return format(self._value_, spec)


class IntEnum(int, ReprEnum):
    pass


class StrEnum(str, ReprEnum):
    def _generate_next_value_(name, start, count, values):
        return name.lower()


def unique(cls):
    return cls
