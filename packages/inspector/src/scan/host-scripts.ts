import type { ImportedModule } from './source/walk.ts'

interface HostScripts {
  root: string
  /** Imports of each Python file, by its archive path. */
  imports: ReadonlyMap<string, readonly ImportedModule[]>
}

/**
 * Hosts and installers run `install.py` and `prestartup_script.py` by themselves. Lists these two and the files of
 * the pack that they import.
 */
export const listHostScripts = ({ root, imports }: HostScripts): Set<string> => {
  const todo = SCRIPTS.map((name) => root + name).filter((path) => imports.has(path))
  const found = new Set(todo)
  for (let path = todo.pop(); path !== undefined; path = todo.pop())
    for (const next of importedBy(path, root, imports.get(path) ?? []))
      if (imports.has(next) && !found.has(next)) {
        found.add(next)
        todo.push(next)
      }
  return found
}

const SCRIPTS = ['install.py', 'prestartup_script.py']

const importedBy = (path: string, root: string, imports: readonly ImportedModule[]): string[] =>
  imports.flatMap((imported) => candidates(imported, path, root))

/** Files that an import may mean: from the importing file's folder, which is on the path of a script, or the pack's root. */
const candidates = (
  { level, module, names }: ImportedModule,
  from: string,
  root: string,
): string[] => {
  const folder = from.split('/').slice(0, -Math.max(level, 1))
  const starts = new Set([folder.join('/'), ...(level === 0 ? [root.replace(/\/$/, '')] : [])])
  const steps = module === '' ? [] : module.split('.')
  return [...starts].flatMap((start) =>
    [steps, ...names.map((name) => [...steps, name])]
      .filter((parts) => parts.length > 0)
      .map((parts) => [...(start === '' ? [] : [start]), ...parts].join('/'))
      .flatMap((stem) => [`${stem}.py`, `${stem}/__init__.py`]),
  )
}
