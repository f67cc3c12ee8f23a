from types import ModuleType as _ModuleType
from collections import namedtuple as _namedtuple
from enum import IntEnum as _IntEnum


# Sources are unknown, and frames but for the names of their functions.
def _predicate(name, *kinds):
    def holds(object):
        if _sure(isinstance(object, _ModuleType)):
            return 'module' in kinds
        return _unknown(f'inspect.{name}()') if _is_unknown(object) else _kind(object) in kinds

    return holds


isclass = _predicate('isclass', 'class')
isfunction = _predicate('isfunction', 'function')
ismodule = _predicate('ismodule', 'module')
isroutine = _predicate('isroutine', 'function', 'native', 'method')
isawaitable = _predicate('isawaitable')


# A member whose test can't be decided is kept.
def getmembers(object, predicate=None):
    members = _members(object)
    if _is_unknown(members) or predicate is None:
        return members
    return [(name, value) for name, value in members if predicate(value)]


# Descriptors are found as such: a classmethod, not a method.
def getattr_static(object, name, *default):
    unknown = _unknown('inspect.getattr_static()')
    if _is_unknown(object) or not _sure(isinstance(name, str)):
        return unknown
    holders = object.__mro__ if isclass(object) else (object, *object.__class__.__mro__)
    for holder in holders:
        names = unknown if _is_unknown(holder) else getattr(holder, '__dict__', {})
        if not _sure(name not in names):
            return names[name] if _sure(name in names) else unknown
    if default:
        return default[0]
    raise AttributeError(name)


# The margin common to all lines but the first goes, and empty lines at both ends.
def cleandoc(doc):
    if not _sure(isinstance(doc, str)) or '\t' in doc:
        return _unknown('inspect.cleandoc()')
    first, *others = doc.split('\n')
    margin = min([len(line) - len(line.lstrip()) for line in others if line.strip()], default=0)
    return '\n'.join([first.lstrip(), *[line[margin:] for line in others]]).strip('\n')


FrameInfo = _namedtuple('FrameInfo', 'frame filename lineno function code_context index')


def stack(context=1):
    unknown = _unknown('inspect.stack()')
    return [FrameInfo(unknown, unknown, unknown, name, unknown, unknown) for name in _callers()]


class _empty:
    pass


class _ParameterKind(_IntEnum):
    POSITIONAL_ONLY = 0
    POSITIONAL_OR_KEYWORD = 1
    VAR_POSITIONAL = 2
    KEYWORD_ONLY = 3
    VAR_KEYWORD = 4


class Parameter:
    POSITIONAL_ONLY, POSITIONAL_OR_KEYWORD, VAR_POSITIONAL, KEYWORD_ONLY, VAR_KEYWORD = _ParameterKind
    empty = _empty

    def __init__(self, name, kind, *, default=_empty, annotation=_empty):
        self.name, self.kind, self.default, self.annotation = name, kind, default, annotation


class Signature:
    empty = _empty

    def __init__(self, parameters=None, *, return_annotation=_empty):
        self.parameters = {parameter.name: parameter for parameter in parameters or ()}
        self.return_annotation = return_annotation


def signature(obj, **options):
    unknown = _unknown('inspect.signature()')
    if _is_unknown(obj) or not isfunction(obj):
        return unknown
    wrapped = getattr(obj, '__wrapped__', None)
    if wrapped is not None:
        return signature(wrapped)
    rows = _parameters(obj)
    if _is_unknown(rows):
        return unknown
    *rows, result = rows
    parameters = [
        Parameter(
            name,
            _ParameterKind(kind),
            default=default[0] if default else _empty,
            annotation=annotation[0] if annotation else _empty,
        )
        for name, kind, default, annotation in rows
    ]
    return Signature(parameters, return_annotation=result[0] if result else _empty)
