# Wrapping is unknown.
def dedent(text):
    if not _sure(isinstance(text, str)):
        return _unknown('textwrap.dedent()')
    lines = [line if line.strip(' \t') else '' for line in text.split('\n')]
    filled = [line for line in lines if line]
    margin = 0
    # What the first and the last in order share, all share.
    for one, other in zip(min(filled, default=''), max(filled, default='')):
        if one != other or one not in ' \t':
            break
        margin += 1
    return '\n'.join(line[margin:] for line in lines)
