HERE = os.path.dirname(os.path.abspath(__file__))


ROOT = pathlib.Path(__file__).parent


class Trouble(ValueError):
    pass


def check(i):
    if i % 3 == 0:
        raise Trouble('trouble', i)
    return i


def double(i):
    return i * 2


def many(i, j=2, *rest, k=3, **more):
    return [i, j, k, *rest, *more.values()][i % 3] + len(rest) * 10


def count_up(n):
    for i in range(n):
        yield i * i


def twice(func):
    @functools.wraps(func)
    def wrapper(i=1, *args):
        return func(i, *args) * 2

    return wrapper


class Base:
    TAG = 'base'
    ITEMS = [4, 2]

    def __init__(self, n=3, s='own'):
        self.n = n
        self.s = s

    def __eq__(self, other):
        return isinstance(other, Base) and (self.n, self.s) == (other.n, other.s)

    def __hash__(self):
        return 7

    def __lt__(self, other):
        return self.n < other.n

    def __repr__(self):
        return f'{self.__class__.__name__}({self.n!r}, s={self.s!r})'

    def __len__(self):
        return abs(self.n) % 9

    def __getitem__(self, key):
        return key + self.n

    def __iter__(self):
        return iter([self.n, *self.ITEMS])

    def __contains__(self, item):
        return item == self.n

    def __call__(self, i):
        return i - self.n

    def __add__(self, other):
        return type(self)(self.n + other, self.s)

    def m(self, i):
        return self.n + i

    def t(self, s):
        return f'{self.TAG} {s}'

    @property
    def p(self):
        return self.n * 2

    @classmethod
    def make(cls, i):
        return cls(i, s=cls.__name__)

    @staticmethod
    def stat(i, j=4):
        return i * j


class Mixin:
    def m(self, i):
        return super().m(i) - 1


@dataclasses.dataclass
class Row:
    a: int
    b: str = 'row'
    total: int = 0


class Pair(typing.NamedTuple):
    a: int
    b: str = 'x'


class Color(enum.Enum):
    A = 1
    B = 'blue'
    C = (2, 'c')


class Manager:
    def __init__(self, n):
        self.n = n

    def __enter__(self):
        return self.n + 1

    def __exit__(self, cls, error, trace):
        return cls is not None and issubclass(cls, KeyError)


base = Base()
