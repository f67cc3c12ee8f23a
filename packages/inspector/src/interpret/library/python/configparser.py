import os
import re


class Error(Exception):
    pass


class NoSectionError(Error):
    pass


class NoOptionError(Error):
    pass


DEFAULTSECT = 'DEFAULT'
_BOOLEANS = {
    '1': True, 'yes': True, 'true': True, 'on': True,
    '0': False, 'no': False, 'false': False, 'off': False,
}


class SectionProxy:
    def __init__(self, parser, name):
        self._parser, self.name = parser, name

    def get(self, option, fallback=None, **options):
        return self._parser.get(self.name, option, fallback=fallback)

    def getboolean(self, option, fallback=None, **options):
        return self._parser.getboolean(self.name, option, fallback=fallback)

    def getint(self, option, fallback=None, **options):
        return self._parser.getint(self.name, option, fallback=fallback)

    def getfloat(self, option, fallback=None, **options):
        return self._parser.getfloat(self.name, option, fallback=fallback)

    def __getitem__(self, option):
        return self._parser._find(self.name, option, 'KeyError')

    def __setitem__(self, option, value):
        self._parser.set(self.name, option, value)

    def __contains__(self, option):
        return self._parser.has_option(self.name, option)

    def __iter__(self):
        return iter(self._parser.options(self.name))

    def keys(self):
        return self._parser.options(self.name)

    def items(self):
        return self._parser.items(self.name)

    def values(self):
        return [value for name, value in self.items()]


class RawConfigParser:
    _interpolates = False

    def __init__(self, defaults=None, *unused, delimiters=('=', ':'), comment_prefixes=('#', ';'),
                 inline_comment_prefixes=None, allow_no_value=False, **options):
        self._sections = {DEFAULTSECT: {self.optionxform(k): v for k, v in (defaults or {}).items()}}
        self._delimiters, self._comments = tuple(delimiters), tuple(comment_prefixes or ())
        self._inline = tuple(inline_comment_prefixes or ())
        # Set where a text could not be known: then nothing of it is.
        self._unread = False

    def optionxform(self, option):
        return option.lower()

    # Files outside of the pack count as absent.
    def read(self, filenames, encoding=None):
        names = [filenames] if isinstance(filenames, (str, bytes, os.PathLike)) else filenames
        found = []
        for name in _known(names):
            if _sure(not os.path.isfile(name)) or not _sure(os.path.isabs(name)):
                _guess()
                continue
            with open(name, encoding=encoding) as file:
                self.read_string(file.read())
            found.append(name)
        return found

    def read_file(self, file, source=None):
        self.read_string('\n'.join(file))

    def read_string(self, text, source=None):
        if _is_unknown(text):
            self._unread = True
            return
        section, option = None, None
        for line in text.splitlines():
            stripped = line.strip()
            for mark in self._inline:
                stripped = stripped.split(' ' + mark)[0].strip()
            if not stripped or stripped.startswith(self._comments):
                continue
            if option is not None and line[0] in ' \t':
                section[option] += '\n' + stripped
                continue
            header = re.match(r'\[(.+)\]', stripped)
            if header:
                section, option = self._sections.setdefault(header.group(1), {}), None
                continue
            at = min([stripped.find(mark) for mark in self._delimiters if mark in stripped] or [-1])
            if section is None:
                raise Error('File contains no section headers.')
            option = self.optionxform((stripped if at < 0 else stripped[:at]).strip())
            section[option] = None if at < 0 else stripped[at + 1:].strip()

    def read_dict(self, dictionary, source=None):
        for name, options in dictionary.items():
            section = self._sections.setdefault(str(name), {})
            for option, value in options.items():
                section[self.optionxform(str(option))] = str(value)

    def sections(self):
        if self._unread:
            return _unknown('configparser.sections()')
        return [name for name in self._sections if name != DEFAULTSECT]

    def has_section(self, section):
        return section in self.sections()

    def add_section(self, section):
        self._sections[section] = {}

    def _options(self, section):
        own, defaults = self._sections.get(section, {}), self._sections[DEFAULTSECT]
        return {**own, **{name: value for name, value in defaults.items() if name not in own}}

    def options(self, section):
        if self._unread:
            return _unknown('configparser.options()')
        if section not in self._sections:
            _missing('KeyError')
        return list(self._options(section))

    def has_option(self, section, option):
        if self._unread:
            return _unknown('configparser.has_option()')
        return section in self._sections and self.optionxform(option) in self._options(section)

    def _find(self, section, option, error, *fallback):
        if self._unread:
            return _unknown('configparser.get()')
        options, name = self._options(section), self.optionxform(option)
        if section in self._sections and name in options:
            return self._fill(options, options[name])
        if fallback:
            return fallback[0]
        if error == 'KeyError':
            _missing('KeyError')
        raise (NoOptionError if section in self._sections else NoSectionError)(option)

    def _fill(self, options, value):
        if not self._interpolates or value is None:
            return value
        for _ in range(10):
            value = re.sub(r'%\((\w+)\)s', lambda found: options[self.optionxform(found.group(1))], value)
        return value.replace('%%', '%')

    def get(self, section, option, *, raw=False, vars=None, fallback=_ABSENT):
        given = () if _sure(fallback is _ABSENT) else (fallback,)
        return self._find(section, option, None, *given)

    def _convert(self, section, option, convert, fallback):
        value = self.get(section, option, fallback=fallback)
        return convert(value) if isinstance(value, str) else value

    def getint(self, section, option, *, raw=False, vars=None, fallback=_ABSENT):
        return self._convert(section, option, int, fallback)

    def getfloat(self, section, option, *, raw=False, vars=None, fallback=_ABSENT):
        return self._convert(section, option, float, fallback)

    def getboolean(self, section, option, *, raw=False, vars=None, fallback=_ABSENT):
        return self._convert(section, option, lambda text: _BOOLEANS[text.lower()], fallback)

    def items(self, section=_ABSENT, **options):
        if self._unread:
            return _unknown('configparser.items()')
        if _sure(section is _ABSENT):
            return [(name, self[name]) for name in self._sections]
        found = self._options(section)
        return [(name, self._fill(found, value)) for name, value in found.items()]

    def set(self, section, option, value=None):
        self._sections[section][self.optionxform(option)] = value

    def remove_option(self, section, option):
        return self._sections[section].pop(self.optionxform(option), None) is not None

    def remove_section(self, section):
        return self._sections.pop(section, None) is not None

    def write(self, file, space_around_delimiters=True):
        pass

    def __getitem__(self, section):
        if self._unread:
            return _unknown('configparser[]')
        if section not in self._sections:
            _missing('KeyError')
        return SectionProxy(self, section)

    def __setitem__(self, section, options):
        self._sections[section] = {}
        self.read_dict({section: options})

    def __contains__(self, section):
        return section == DEFAULTSECT or self.has_section(section)

    def __iter__(self):
        return iter(self._sections)


class ConfigParser(RawConfigParser):
    _interpolates = True

    def __init__(self, *args, interpolation=_ABSENT, **options):
        super().__init__(*args, **options)
        if interpolation is None:
            self._interpolates = False


SafeConfigParser = ConfigParser
