# The system is the one `sys.platform` names; all else is the machine's, and stays unknown.
def system():
    return 'Linux'


def python_implementation():
    return 'CPython'
