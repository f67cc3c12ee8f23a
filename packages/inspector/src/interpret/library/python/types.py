# A plain holder of attributes.
class SimpleNamespace:
    def __init__(self, source=(), /, **names):
        self.__dict__.update(source, **names)
