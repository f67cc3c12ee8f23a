class PathLike:
    pass


class DirEntry:
    def __init__(self, folder, name):
        self.name, self.path = name, path.join(folder, name)

    def is_file(self, **options):
        return path.isfile(self.path)

    def is_dir(self, **options):
        return path.isdir(self.path)

    def is_symlink(self):
        return False

    def __fspath__(self):
        return self.path


# Can be read once, also within a `with`.
class _Entries:
    def __init__(self, entries):
        self._entries = iter(entries)

    def __iter__(self):
        return self._entries

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        return None

    close = __exit__


def scandir(path='.'):
    names = listdir(path)
    if _is_unknown(names):
        return _unknown('os.scandir()')
    return _Entries([DirEntry(fspath(path), name) for name in names])
