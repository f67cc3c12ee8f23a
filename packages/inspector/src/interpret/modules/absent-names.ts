import { raise, raiseIfHandled } from '../operate/raise.ts'
import type { Runtime, Value } from '../types.ts'
import { isModule } from '../values/read-value.ts'
import { words } from '../../words.ts'
import type { Statement } from '../../python/ast.ts'

/** Modules and names that the standard library has no more, by the release that removed them. */
const REMOVED: Record<string, string> = {
  '3.0': `urllib2 urlparse ConfigParser Queue cPickle StringIO cStringIO Tkinter tkMessageBox tkFileDialog httplib
    BaseHTTPServer SimpleHTTPServer SocketServer HTMLParser cookielib xmlrpclib htmlentitydefs robotparser copy_reg
    _winreg __builtin__ string.letters string.lowercase string.uppercase string.maketrans string.join string.split
    string.replace string.atoi itertools.izip itertools.imap itertools.ifilter itertools.izip_longest os.getcwdu
    types.StringType types.StringTypes types.UnicodeType types.ListType types.DictType types.IntType types.ClassType
    urllib.urlopen urllib.urlencode urllib.quote urllib.quote_plus urllib.unquote urllib.urlretrieve`,
  '3.8': 'time.clock platform.linux_distribution platform.dist cgi.escape',
  '3.9':
    'fractions.gcd base64.encodestring base64.decodestring xml.etree.cElementTree dummy_threading',
  '3.10': `AsyncGenerator AsyncIterable AsyncIterator Awaitable ByteString Callable Collection
    Container Coroutine Generator Hashable ItemsView Iterable Iterator KeysView Mapping MappingView MutableMapping
    MutableSequence MutableSet Reversible Sequence Set Sized ValuesView`.replace(
    /\w+/g,
    'collections.$&',
  ),
  '3.11': 'binhex inspect.getargspec inspect.formatargspec asyncio.coroutine re.template',
  '3.12': `imp asynchat asyncore smtpd pkgutil.ImpImporter pkgutil.ImpLoader configparser.SafeConfigParser
    ssl.wrap_socket ssl.match_hostname importlib.find_loader locale.format`,
}

const REMOVED_IN = new Map(
  Object.entries(REMOVED).flatMap(([release, names]) =>
    words(names).map((name) => [name, release] as const),
  ),
)

const WINDOWS = 'on Windows alone'

/** What is there on some hosts, by the hosts; of those with Windows alone the assumed host is none. */
const ONLY: Record<string, string> = {
  [WINDOWS]: `winreg msvcrt winsound nt ctypes.windll ctypes.oledll ctypes.WinDLL ctypes.WinError os.startfile
    sys.getwindowsversion subprocess.STARTUPINFO subprocess.CREATE_NO_WINDOW signal.CTRL_C_EVENT
    asyncio.WindowsSelectorEventLoopPolicy asyncio.WindowsProactorEventLoopPolicy`,
  'not on Windows': 'fcntl termios tty pty pwd grp resource posix syslog readline curses',
  'up to Python 3.12': `aifc audioop cgi cgitb chunk crypt imghdr lib2to3 mailcap msilib nis nntplib ossaudiodev pipes sndhdr
    spwd sunau telnetlib uu xdrlib`,
}

const ONLY_ON = new Map(
  Object.entries(ONLY).flatMap(([hosts, names]) =>
    words(names).map((name) => [name, hosts] as const),
  ),
)

/** True for a name of the standard library that the assumed host lacks. */
export const isAbsent = (dottedName: string): boolean =>
  REMOVED_IN.has(dottedName) || ONLY_ON.get(dottedName) === WINDOWS

/**
 * Raises for a module or name that Python has no more. One of other hosts raises where that is handled; else a note says
 * that not every host has it.
 */
export function raiseIfAbsent(rt: Runtime, name: string, exception: string, message: string): void {
  const release = REMOVED_IN.get(name)
  if (release !== undefined) raise(rt, exception, `${message} (removed in Python ${release})`)
  const hosts = ONLY_ON.get(name)
  if (hosts === undefined) return
  if (hosts === WINDOWS) raiseIfHandled(rt, exception, message)
  const { module } = rt.state.scope
  const line = runningIn(rt, module)?.line
  if (line === undefined || rt.state.added || isConditional(rt)) return
  const note = { file: module.file ?? '', line, message: `${name}, ${hosts}` }
  rt.state.notes.push({ kind: 'elsewhere', ...note })
}

/** True when a module is being loaded within a statement that may not run on each host, or that handles exceptions. */
function isConditional(rt: Runtime): boolean {
  const running = [...rt.modules.values()].flatMap((one) => runningIn(rt, one) ?? [])
  return running.some(({ kind }) => kind === 'If' || kind === 'Try' || kind === 'Match')
}

function runningIn(rt: Runtime, module: Value): Statement | undefined {
  return isModule(module)
    ? rt.parser.parsed.get(module.file ?? '')?.body[module.running - 1]
    : undefined
}
