pi, e, tau = 3.141592653589793, 2.718281828459045, 6.283185307179586
inf, nan = float('inf'), float('nan')


def floor(x):
    return int(x // 1)


def ceil(x):
    return -floor(-x)


def sqrt(x):
    return x ** 0.5
