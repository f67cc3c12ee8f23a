import os
from collections import namedtuple

ModuleInfo = namedtuple('ModuleInfo', 'module_finder name ispkg')


def iter_modules(path=None, prefix=''):
    return _list(path, prefix, False)


def walk_packages(path=None, prefix='', onerror=None):
    return _list(path, prefix, True)


# Without a path it is `sys.path`, where more lies than the pack.
def _list(path, prefix, deep):
    folders = _unknown('pkgutil.iter_modules()') if path is None else [*path]
    if _is_open(folders):
        return _unknown('pkgutil.iter_modules()')
    found = []
    for folder in folders:
        found.extend(_find(os.path.abspath(folder), prefix, deep))
    return iter(found)


# Of a package and a module of one name, the package is the one that an import finds.
def _find(folder, prefix, deep):
    names = [] if _sure(not os.path.isdir(folder)) else os.listdir(folder)
    if _is_unknown(names):
        return names
    packages = {}
    for name in names:
        is_package = '.' not in name and os.path.isfile(os.path.join(folder, name, '__init__.py'))
        is_module = name[-3:] == '.py' and '.' not in name[:-3] and os.path.isfile(os.path.join(folder, name))
        if is_package:
            packages[name] = True
        elif is_module and name != '__init__.py':
            packages.setdefault(name[:-3], False)
    found = []
    for name, is_package in packages.items():
        found.append(ModuleInfo(_unknown('pkgutil.ModuleInfo.module_finder'), prefix + name, is_package))
        if deep and is_package:
            found.extend(_find(os.path.join(folder, name), f'{prefix}{name}.', True))
    return found
