def run_path(path_name, init_globals=None, run_name='<run_path>'):
    names = {**(init_globals or {}), '__name__': run_name, '__file__': str(path_name)}
    with open(path_name) as file:
        exec(file.read(), names)
    return names
