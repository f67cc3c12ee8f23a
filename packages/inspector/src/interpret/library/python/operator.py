

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
