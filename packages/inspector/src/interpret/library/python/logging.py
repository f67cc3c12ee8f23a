# Loggers that say nothing.
CRITICAL, FATAL, ERROR, WARNING, WARN, INFO, DEBUG, NOTSET = 50, 50, 40, 30, 30, 20, 10, 0


def _quiet(*args, **kwargs):
    return None


debug = info = warning = warn = error = exception = critical = fatal = log = _quiet
basicConfig = disable = captureWarnings = shutdown = addLevelName = _quiet


class Filter:
    def __init__(self, *args, **kwargs):
        pass


class Formatter(Filter):
    pass


class Handler(Filter):
    setLevel = setFormatter = emit = handle = flush = close = acquire = release = _quiet
    addFilter = removeFilter = _quiet


class StreamHandler(Handler):
    pass


class FileHandler(Handler):
    pass


class NullHandler(Handler):
    pass


class Logger:
    debug = info = warning = warn = error = exception = critical = fatal = log = _quiet
    setLevel = addHandler = removeHandler = addFilter = removeFilter = handle = _quiet

    def __init__(self, name='root', *args, **kwargs):
        self.name, self.level, self.propagate = name, 0, True
        self.handlers, self.filters = [], []

    def hasHandlers(self):
        return False

    def isEnabledFor(self, level):
        return False

    def getEffectiveLevel(self):
        return WARNING

    def getChild(self, name):
        return Logger(name)


class LoggerAdapter(Logger):
    pass


root = Logger()
_loggers = {'root': root}


def getLogger(name='root'):
    return _loggers.setdefault('root' if name is None else name, Logger(name))
