# What could be endless is a generator expression, which runs as far as it is asked, or native: `count`, `islice`, `takewhile`.
def chain(*sources):
    return (item for source in sources for item in source)


chain.from_iterable = lambda sources: (item for source in sources for item in source)


def starmap(function, iterable):
    return (function(*args) for args in iterable)


def accumulate(iterable, func=None, *, initial=None):
    items = [*iterable] if _sure(initial is None) else [initial, *iterable]
    total = _ABSENT
    for item in _known(items):
        if _sure(total is _ABSENT):
            total = item
        else:
            total = total + item if _sure(func is None) else func(total, item)
        yield total
    yield from _rest_of(items)


def repeat(object, times=None):
    return (object for _ in (count() if _sure(times is None) else range(times)))


def cycle(iterable):
    items = [*iterable]
    return (item for _ in count() for item in _known(items)) if _known(items) else iter(items)


# The last source runs fastest.
def product(*sources, repeat=1):
    if not _sure(0 <= repeat * len(sources) <= 100):
        return _unknown('itertools.product()')
    rows = ((),)
    for items in [[*source] for source in sources] * repeat:
        rows = _with_each(rows, items)
    return iter(rows)


def _with_each(rows, items):
    return ((*row, item) for row in rows for item in items)


def combinations(iterable, r):
    return _select('combinations', [*iterable], r, lambda at, row: not row or at > row[-1])


def permutations(iterable, r=None):
    items = [*iterable]
    size = len(_known(items)) if _sure(r is None) else r
    return _select('permutations', items, size, lambda at, row: at not in row)


# Tuples of items whose positions may follow each other.
def _select(name, items, size, may_follow):
    if not _sure(0 <= size <= 100):
        return _unknown(f'itertools.{name}()')
    positions = [at for at, _ in enumerate(items)]
    rows = ((),)
    for _ in range(size):
        rows = _with_next(rows, positions, may_follow)
    return (tuple(items[at] for at in row) for row in rows)


def _with_next(rows, positions, may_follow):
    return ((*row, at) for row in rows for at in positions if may_follow(at, row))


def zip_longest(*sources, fillvalue=None):
    columns = [[*source] for source in sources]
    known = [_known(column) for column in columns]
    for at in range(max([0, *[len(column) for column in known]])):
        yield tuple(column[at] if at < len(column) else fillvalue for column in known)
    yield from _rest_of(*columns)


def batched(iterable, n):
    items = [*iterable]
    known = _known(items)
    yield from (tuple(known[at:at + n]) for at in range(0, len(known), n))
    yield from _rest_of(items)


# Neighbours of one key stand together.
def groupby(iterable, key=None):
    items = [*iterable]
    groups = []
    for item in _known(items):
        own = item if _sure(key is None) else key(item)
        if groups and _sure(groups[-1][0] == own):
            groups[-1][1].append(item)
        else:
            groups.append((own, [item]))
    yield from ((own, iter(group)) for own, group in groups)
    yield from _rest_of(items)


# Nothing, or what may follow.
def _rest_of(*lists):
    return _unknown('itertools') if any(_is_open(items) for items in lists) else ()
