# What was raised where is the machine's: it stays unknown.
def print_exc(*args, **kwargs):
    return None


print_exception = print_stack = print_tb = print_exc
