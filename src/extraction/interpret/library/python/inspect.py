import sys as _sys


# Signatures, sources and frames are unknown.
def _predicate(name, *kinds):
    def holds(object):
        return _unknown(f'inspect.{name}()') if _is_unknown(object) else _kind(object) in kinds

    return holds


isclass = _predicate('isclass', 'class')
isfunction = _predicate('isfunction', 'function')
ismodule = _predicate('ismodule', 'module')
isroutine = _predicate('isroutine', 'function', 'native', 'method')
isawaitable = _predicate('isawaitable')


def ismethod(object):
    return _kind(object) == 'method' and _kind(object.__func__) != 'native'


# A member whose test can't be decided is kept.
def getmembers(object, predicate=None):
    members = _members(object)
    if _is_unknown(members) or predicate is None:
        return members
    return [(name, value) for name, value in members if predicate(value)]


# Inherited from a base if there is none.
def getdoc(object):
    doc = getattr(object, '__doc__', None)
    if _sure(isclass(object)):
        docs = [base.__doc__ for base in object.__mro__]
        doc = next((doc for doc in docs if _sure(isinstance(doc, str))), None)
    return None if _sure(doc is None) else cleandoc(doc)


# The margin common to all lines but the first goes, and empty lines at both ends.
def cleandoc(doc):
    if not _sure(isinstance(doc, str)):
        return _unknown('inspect.cleandoc()')
    first, *others = doc.expandtabs().split('\n')
    margin = min([len(line) - len(line.lstrip()) for line in others if line.strip()], default=0)
    return '\n'.join([first.lstrip(), *[line[margin:] for line in others]]).strip('\n')


def getmodule(object):
    return object if _sure(ismodule(object)) else _sys.modules.get(object.__module__)


def getfile(object):
    return getmodule(object).__file__


getsourcefile = getfile


def getmro(cls):
    return cls.__mro__
