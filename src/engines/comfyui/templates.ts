import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { CUSTOM, customName, MAX_CUSTOM } from '../../tasks/domain/custom-kind.ts'
import { MAP, readTemplate, WORKFLOW } from '../domain/template/template.ts'
import type { Template } from '../domain/template/template.ts'
import { isCode } from '../../platform/storage/files.ts'

/** True of a file that belongs to a template. */
const isBeside = (name: string): boolean => name.endsWith(MAP) || name.endsWith(WORKFLOW)

/** Why files of the folder cannot be used, by their names below it. */
export type UnusableFiles = Readonly<Record<string, readonly string[]>>

interface Others {
  /** Lists the custom kinds that there are: of more templates than can be kinds those stay. */
  listKinds(): Promise<readonly string[]>
  /** Engines of ENGINES_HTTP, whose names no template can have. */
  engines?: readonly string[]
}

/**
 * Reads the templates of a folder and of `custom` in it. A file that cannot be used has no effect on the others.
 */
export const readTemplates = async (
  folder: string,
  { listKinds, engines = [] }: Others,
): Promise<{ templates: Template[]; unusable: UnusableFiles }> => {
  const names = [...(await list(folder)), ...(await list(folder, 'custom'))]
  const left = new Set(names.filter(isBeside))
  const unusable: Record<string, readonly string[]> = {}
  const readBeside = async (name: string): Promise<string | undefined> =>
    left.delete(name) || names.includes(name)
      ? await readFile(join(folder, name), 'utf8')
      : undefined
  const readOne = async (path: string): Promise<Template[]> => {
    const { template, issues } = await Promise.all([
      readFile(join(folder, path), 'utf8'),
      readBeside(path.replace(/(\+.*)?\.json$/, MAP)),
      readBeside(path.replace(/\.json$/, WORKFLOW)),
    ]).then(
      ([text, map, workflow]) =>
        readTemplate({ path, text, map, workflow, version: digestOf(text, map) }),
      (error: Error) => ({ template: undefined, issues: [`${path}: ${error.message}`] }),
    )
    if (issues.length > 0) unusable[path] = issues
    return template ? [template] : []
  }
  const paths = names.filter((name) => name.endsWith('.json') && !isBeside(name))
  let templates = (await Promise.all(paths.map(readOne))).flat()
  for (const name of left)
    unusable[name] = [`${name}: no template is called ${name.replace(/\.\w+\.json$/, '')}`]
  for (const name of engines.map((engine) => `${CUSTOM}${engine}.json`))
    if (names.includes(name))
      unusable[name] = [`${name}: an engine of ENGINES_HTTP has this name: rename one`]
  templates = templates.filter(({ name }) => !(`${name}.json` in unusable))
  const custom = templates.filter(({ kind }) => kind === undefined)
  const kinds = custom.length > MAX_CUSTOM ? await listKinds() : []
  const isKind = ({ name }: Template): number => Number(kinds.includes(customName(name) ?? ''))
  const excess = custom.toSorted((a, b) => isKind(b) - isKind(a)).slice(MAX_CUSTOM)
  for (const { name } of excess)
    unusable[`${name}.json`] = [`${name}.json: at most ${MAX_CUSTOM} templates can be kinds`]
  return { templates: templates.filter((template) => !excess.includes(template)), unusable }
}

const digestOf = (text: string, map = ''): string =>
  createHash('sha256').update(text).update(map).digest('hex')

const list = async (folder: string, below?: string): Promise<string[]> => {
  try {
    const names = await readdir(join(folder, below ?? ''))
    return names.toSorted().map((name) => (below === undefined ? name : `${below}/${name}`))
  } catch (error) {
    if (below !== undefined && isCode(error, 'ENOENT')) return []
    throw error
  }
}
