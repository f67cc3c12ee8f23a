def add(a, b): return a + b
def sub(a, b): return a - b
def mul(a, b): return a * b
def truediv(a, b): return a / b
def floordiv(a, b): return a // b
def mod(a, b): return a % b
def pow(a, b): return a ** b
def and_(a, b): return a & b
def or_(a, b): return a | b
def xor(a, b): return a ^ b
def lshift(a, b): return a << b
def rshift(a, b): return a >> b
def eq(a, b): return a == b
def ne(a, b): return a != b
def lt(a, b): return a < b
def le(a, b): return a <= b
def gt(a, b): return a > b
def ge(a, b): return a >= b
def is_(a, b): return a is b
def is_not(a, b): return a is not b
def truth(a): return bool(a)
def not_(a): return not a
def neg(a): return -a
def getitem(a, b): return a[b]


class itemgetter:
    def __init__(self, *keys):
        self._keys = keys

    def __call__(self, value):
        found = tuple(self._get(value, key) for key in self._keys)
        return found[0] if len(found) == 1 else found

    def _get(self, value, key):
        return value[key]


class attrgetter(itemgetter):
    def _get(self, value, key):
        for name in key.split('.'):
            value = getattr(value, name)
        return value
