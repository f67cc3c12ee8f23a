def register(function, *args, **kwargs):
    return function
