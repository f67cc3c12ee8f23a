# Writes are forgotten.
Error = OSError


def rmtree(*args, **kwargs):
    return None


copymode = copystat = chown = rmtree


def copy(src, dst, *args, **kwargs):
    _write()
    return dst


copy2 = copyfile = copytree = move = copy
