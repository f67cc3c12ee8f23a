# Writes are forgotten.
Error = OSError


def rmtree(*args, **kwargs):
    return None


copyfileobj = copymode = copystat = unpack_archive = chown = rmtree


def copy(src, dst, *args, **kwargs):
    return dst


copy2 = copyfile = copytree = move = copy
