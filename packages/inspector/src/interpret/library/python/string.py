import re

ascii_lowercase = 'abcdefghijklmnopqrstuvwxyz'
ascii_uppercase = ascii_lowercase.upper()
ascii_letters = ascii_lowercase + ascii_uppercase
digits = '0123456789'
hexdigits = digits + 'abcdefABCDEF'
punctuation = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'

_PLACEHOLDER = re.compile(r'\$(?:(\$)|([_a-zA-Z][_a-zA-Z0-9]*)|\{([_a-zA-Z][_a-zA-Z0-9]*)\})')


# `$name`, `${name}`, `$$`.
class Template:
    def __init__(self, template):
        self.template = template

    def substitute(self, mapping={}, /, **names):
        return _fill(self.template, mapping, names, lambda whole: _unknown('string.Template.substitute()'))


def _fill(template, mapping, names, otherwise):
    def value_of(match):
        dollar, name, braced = match.groups()
        key = name or braced
        if dollar:
            return dollar
        for values in (names, mapping):
            if _sure(key in values):
                return str(values[key])
        return otherwise(match.group())

    return _PLACEHOLDER.sub(value_of, template)
