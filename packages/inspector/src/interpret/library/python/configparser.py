import os
import re


class Error(Exception):
    pass


class NoSectionError(Error):
    pass


class NoOptionError(Error):
    pass


_BOOLEANS = {
    '1': True, 'yes': True, 'true': True, 'on': True,
    '0': False, 'no': False, 'false': False, 'off': False,
}


# Its files in their usual form. Sections as mappings, defaults, other marks and what values interpolate are unknown.
class RawConfigParser:
    def __init__(self, *defaults, interpolation=None, allow_no_value=False, strict=True, **options):
        self._sections = {}
        # Set where a text could not be known: then nothing of it is.
        self._unread = bool(defaults or options)

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

    def read_string(self, text, source=None):
        if _is_unknown(text) or '[DEFAULT]' in text:
            self._unread = True
            return
        section, option = None, None
        for line in text.splitlines():
            stripped = line.strip()
            if not stripped or stripped.startswith(('#', ';')):
                continue
            if option is not None and line[0] in ' \t':
                section[option] += '\n' + stripped
                continue
            header = re.match(r'\[(.+)\]', stripped)
            if header:
                section, option = self._sections.setdefault(header.group(1), {}), None
                continue
            at = min([stripped.find(mark) for mark in '=:' if mark in stripped] or [-1])
            if section is None:
                raise Error('File contains no section headers.')
            option = self.optionxform((stripped if at < 0 else stripped[:at]).strip())
            section[option] = None if at < 0 else stripped[at + 1:].strip()

    def read_dict(self, dictionary, source=None):
        self._unread = True

    read_file = read_dict

    def sections(self):
        return _unknown('configparser.sections()') if self._unread else list(self._sections)

    def has_section(self, section):
        return section in self.sections()

    __contains__ = has_section

    def add_section(self, section):
        self._sections[section] = {}

    def set(self, section, option, value=None):
        self._sections.setdefault(section, {})[self.optionxform(option)] = value

    def get(self, section, option, *, fallback=_ABSENT, **options):
        value = self._sections.get(section, {}).get(self.optionxform(option), _ABSENT)
        if not _sure(value is _ABSENT) and not (self._unread or '%' in (value or '')):
            return value
        if self._unread or not _sure(value is _ABSENT):
            return _unknown('configparser.get()')
        if not _sure(fallback is _ABSENT):
            return fallback
        raise (NoOptionError if section in self._sections else NoSectionError)(option)

    def getboolean(self, section, option, **options):
        value = self.get(section, option, **options)
        return _BOOLEANS[value.lower()] if isinstance(value, str) else value

    def write(self, file, space_around_delimiters=True):
        pass

    def __getitem__(self, section):
        self._unread = True
        return _unknown('configparser[]')

    def __setitem__(self, section, options):
        self._unread = True


ConfigParser = SafeConfigParser = RawConfigParser
