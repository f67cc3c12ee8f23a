from collections import namedtuple as _namedtuple

_Version = _namedtuple('version_info', 'major minor micro releaselevel serial')
version_info = _Version(3, 12, 0, 'final', 0)


# Properties of a double.
class float_info:
    max, max_exp, max_10_exp = 1.7976931348623157e+308, 1024, 308
    min, min_exp, min_10_exp = 2.2250738585072014e-308, -1021, -307
    dig, mant_dig, epsilon, radix, rounds = 15, 53, 2.220446049250313e-16, 2, 1


# Takes whatever is written.
class _Stream:
    encoding = 'utf-8'

    def __init__(self, name, number):
        self.name, self._number = name, number

    def isatty(self):
        return False

    def fileno(self):
        return self._number

    def write(self, *args, **options):
        return None

    flush = close = reconfigure = writelines = write


stdout, stderr = _Stream('<stdout>', 1), _Stream('<stderr>', 2)
