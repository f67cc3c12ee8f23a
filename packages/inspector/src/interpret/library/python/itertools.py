# What could be endless is a generator expression, which runs as far as it is asked, or native: `count`, `islice`.
def chain(*sources):
    return (item for source in sources for item in source)


chain.from_iterable = lambda sources: (item for source in sources for item in source)


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
    items = [*iterable]
    if not _sure(0 <= r <= 100):
        return _unknown('itertools.combinations()')
    positions = [at for at, _ in enumerate(items)]
    rows = ((),)
    for _ in range(r):
        rows = _with_later(rows, positions)
    return (tuple(items[at] for at in row) for row in rows)


def _with_later(rows, positions):
    return ((*row, at) for row in rows for at in positions if not row or at > row[-1])
