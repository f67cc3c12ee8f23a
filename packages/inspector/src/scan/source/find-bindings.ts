import { atMost, gather } from './parts.ts'
import { findHome, moduleOf, type Binding, type ImportBinding, type Scope } from './scope.ts'
import { words } from '../../words.ts'

/**
 * Finds what a name may stand for where it is read, through imports of the pack's files; undefined for one that
 * nothing there binds: a builtin or an unknown.
 */
export const findBindings = (scope: Scope, name: string): Binding[] | undefined => {
  const own = findHome(scope, name)?.names.get(name)
  return own ? followAll(own, 0) : starred(moduleOf(scope), name, 0)
}

/** Finds what `module.name` may stand for, seen from another file. */
export const findMembers = (module: Scope, name: string, depth = 0): Binding[] => {
  const own = module.names.get(name)
  const found = own ? followAll(own, depth) : starred(module, name, depth)
  if (found) return found
  return module.file.path.endsWith('__init__.py') ? modulesOf(`.${name}`, module) : []
}

/** No pack re-exports a name through more files. */
const MAX_DEPTH = 48

/** Most bindings that one name leads to. */
const MAX_FOUND = 32

const followAll = (bindings: Binding[], depth: number): Binding[] =>
  bindings.some(({ kind }) => kind === 'import')
    ? atMost(
        MAX_FOUND,
        gather(bindings, (at) => (at.kind === 'import' ? follow(at, depth) : [at])),
      )
    : bindings

/**
 * A relative name means a file of the pack. An absolute one may mean another package too: a file `base64.py` in the pack
 * must not hide what `base64` is.
 */
const follow = (binding: ImportBinding, depth: number): Binding[] => {
  if (depth > MAX_DEPTH) return [binding]
  if (!binding.found) {
    // A circle of imports ends here.
    binding.found = []
    binding.found = lookUp(binding, depth + 1)
  }
  const { found } = binding
  return found.length > 0 && binding.name.startsWith('.') ? found : [binding, ...found]
}

/** `.helper.run` is the member `run` of `.helper`, else a module of that name. */
const lookUp = (binding: ImportBinding, depth: number): Binding[] => {
  const { name } = binding
  const from = moduleOf(binding.scope)
  const dot = name.lastIndexOf('.')
  const owner = name.slice(0, dot + (/^\.+$/.test(name.slice(0, dot + 1)) ? 1 : 0))
  const members = from.file.modules
    .find(owner, from.file.path)
    .flatMap((module) => findMembers(module, name.slice(dot + 1), depth))
    .filter((found) => found !== binding)
  return members.length > 0 ? members : modulesOf(name, from)
}

export const modulesOf = (name: string, { file }: Scope): Binding[] =>
  file.modules.find(name, file.path).map((scope) => ({ kind: 'module', scope }))

/** Finds what star imports brought in. A module of the pack is searched; of another one the name is taken on trust. */
const starred = (module: Scope, name: string, depth: number): Binding[] | undefined => {
  if (module.stars.length === 0 || depth > MAX_DEPTH) return undefined
  const known = module.starred.get(name)
  if (known) return known.length > 0 ? known : undefined
  module.starred.set(name, [])
  const found = module.stars.flatMap((star) => starMembers(star, name, module, depth + 1))
  module.starred.set(name, found.slice(0, MAX_FOUND))
  return found.length > 0 ? found : undefined
}

const starMembers = (star: string, name: string, module: Scope, depth: number): Binding[] => {
  const inside = module.file.modules
    .find(star, module.file.path)
    .flatMap((found) => findMembers(found, name, depth))
  if (star.startsWith('.') || BUILTINS.has(name)) return inside
  return [{ kind: 'import', name: `${star}.${name}`, scope: module, found: [] }, ...inside]
}

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
