def _quiet(*args, **kwargs):
    return None


warn = filterwarnings = simplefilter = resetwarnings = warn_explicit = _quiet


class catch_warnings:
    __init__ = __exit__ = _quiet

    def __enter__(self):
        return self
