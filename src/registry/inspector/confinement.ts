import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Arguments of Node for a compiled process that reads hostile files. Node's permission model lets it read the compiled
 * code, its packages and what lies in `dir` (absolute). It can't write, start a process or a thread, or load native
 * code. A Node without that model gets no arguments.
 */
export const confinementArguments = (dir: string): string[] => {
  const flag = ['--permission', '--experimental-permission'].find((name) =>
    process.allowedNodeEnvironmentFlags.has(name),
  )
  if (flag === undefined) return []
  return [
    flag,
    ...[...SOURCES, ...packagePatterns(), join(dir, '*')].map(
      (pattern) => `--allow-fs-read=${pattern}`,
    ),
  ]
}

/** They are not the folder above: in a checkout that one holds `.env` and the data of the embedded stack. */
const SOURCES = ['../..', '../../../packages/inspector'].map((folder) =>
  join(fileURLToPath(new URL(folder, import.meta.url)), '*'),
)

/** The folder of the packages. Where it is a link, both ends of it, because Node asks for each. */
const packagePatterns = (): string[] => {
  const name = 'web-tree-sitter'
  const file = fileURLToPath(import.meta.resolve(name))
  const real = file.slice(0, file.lastIndexOf(join('node_modules', name)))
  const searched = createRequire(import.meta.url).resolve.paths(name) ?? []
  const linked = searched.find((folder) => existsSync(join(folder, name)))
  // Without a separator the pattern also matches the folder itself: Node 20 looks at a link before it follows it.
  return [join(real, 'node_modules', '*'), ...(linked === undefined ? [] : [`${linked}*`])]
}
