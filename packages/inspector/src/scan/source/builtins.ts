import { words } from '../../words.ts'

/** Builtins that rules name; all other unbound names may come from a star import. */
export const BUILTINS: ReadonlySet<string> = new Set(
  words(`
    __import__ bytearray bytes chr classmethod compile dict enumerate eval exec execfile filter
    getattr globals iter list locals map memoryview open print repr reversed sorted staticmethod str
    tuple vars zip`),
)

/** One name for one thing: the modules under which Python offers the same functions again. */
export const canonicalName = (name: string): string => {
  const plain = name.startsWith('six.moves.') ? name.slice('six.moves.'.length) : name
  const dot = plain.indexOf('.')
  const top = dot === -1 ? plain : plain.slice(0, dot)
  const same = SAME_MODULES.get(top)
  return same === undefined ? plain : same + plain.slice(top.length)
}

const SAME_MODULES = new Map([
  ['__builtin__', 'builtins'],
  ['__builtins__', 'builtins'],
  ['posix', 'os'],
  ['nt', 'os'],
  ['subprocess32', 'subprocess'],
  ['cPickle', 'pickle'],
  ['_pickle', 'pickle'],
  ['imp', 'importlib'],
  ['io', 'builtins'],
])
