import { normalName } from '../../pack.ts'
import type { Pack } from '../../pack.ts'
import type { PackModules, Scope } from './scope.ts'

/**
 * The modules of a pack by name. `read` gives the scope of a file. A name is looked for beside the file that imports it, at
 * the pack's root, below the pack's own name, and at last anywhere.
 */
export const makePackModules = (
  { root, entries, ownNames }: Pick<Pack, 'root' | 'entries' | 'ownNames'>,
  read: (path: string) => Scope | undefined,
): PackModules => {
  const paths = entries.map(({ path }) => path).filter((path) => /\.py$/i.test(path))
  const files = new Map(paths.map((path) => [path.toLowerCase(), path]))
  const byName = new Map<string, string[]>()
  for (const path of paths)
    byName.set(moduleName(path), [...(byName.get(moduleName(path)) ?? []), path])
  const readAll = (found: string[]): Scope[] =>
    found.slice(0, MAX_MODULES).flatMap((path) => read(path) ?? [])
  const among = (stems: string[]): string[] =>
    stems
      .flatMap((stem) => [`${stem}/__init__.py`, `${stem}.py`])
      .flatMap(
        (path) => files.get(path.replaceAll('//', '/').replace(/^\//, '').toLowerCase()) ?? [],
      )
  const anywhere = (end: string): string[] =>
    (byName.get(end.split('/').at(-1) ?? '') ?? []).filter((path) => endsWith(path, end))
  const findAbsolute = (steps: string[], from: string): string[] => {
    const rest = stepsBelow(steps, ownNames)
    const near = among([
      [...folderOf(from, 1), ...steps].join('/'),
      root + steps.join('/'),
      ...(rest ? [root + rest.join('/')] : []),
    ])
    return near.length > 0 ? near : anywhere(steps.join('/'))
  }
  return {
    find: (name, from) => {
      const level = /^\.*/.exec(name)?.[0].length ?? 0
      const steps = name.slice(level).split('.').filter(Boolean)
      if (level > 0) return readAll(among([[...folderOf(from, level), ...steps].join('/')]))
      return steps.length > 0 ? readAll(findAbsolute(steps, from)) : []
    },
    findFile: (path, from) => {
      const end = path
        .replace(/^.*\0/, '')
        .replaceAll(/[\\/]+/g, '/')
        .replace(/^(?:\.?\/)+/, '')
      const near = files.get([...folderOf(from, 1), end].join('/').toLowerCase())
      return readAll(near === undefined ? anywhere(end.replace(/\.py$/i, '')) : [near])
    },
  }
}

/** A name that fits more files than these means nothing. */
const MAX_MODULES = 4

const folderOf = (path: string, level: number): string[] => path.split('/').slice(0, -level)

/** The name by which a file is imported, without its packages. */
const moduleName = (path: string): string =>
  path
    .replace(/(?:\/__init__)?\.py$/i, '')
    .split('/')
    .at(-1) ?? ''

const endsWith = (path: string, end: string): boolean =>
  `/${path.replace(/(?:\/__init__)?\.py$/i, '')}`.endsWith(`/${end}`)

/** `custom_nodes.demo_pack.helper` and `demo_pack.helper`: what follows the pack's own name. */
const stepsBelow = (steps: string[], ownNames: readonly string[]): string[] | undefined => {
  const at = steps.findIndex((step) => ownNames.includes(normalName(step)))
  return at === 0 || (at === 1 && steps[0] === 'custom_nodes') ? steps.slice(at + 1) : undefined
}
