import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { CUSTOM, MOST_CUSTOM } from '../../domain/task/custom-kind.ts'
import { readTemplate } from '../../domain/template/template.ts'
import type { Template } from '../../domain/template/template.ts'
import { isCode } from '../storage/files.ts'

const MAP = '.map.json'

/** Reads the templates of a folder and of `custom` in it, with the issues of those that cannot be used. */
export const readTemplates = async (
  folder: string,
): Promise<{ templates: Template[]; issues: string[] }> => {
  const names = [...(await list(folder)), ...(await list(folder, 'custom'))]
  const maps = new Set(names.filter((name) => name.endsWith(MAP)))
  const read = await Promise.all(
    names
      .filter((name) => name.endsWith('.json') && !maps.has(name))
      .map(async (path) => {
        const map = path.replace(/(\+.*)?\.json$/, MAP)
        const files = maps.delete(map) || names.includes(map) ? [path, map] : [path]
        const [text = '', values] = await Promise.all(
          files.map((name) => readFile(join(folder, name), 'utf8')),
        )
        return readTemplate({ path, text, map: values })
      }),
  )
  const templates = read.flatMap(({ template }) => template ?? [])
  const custom = templates.filter(({ kind }) => kind === undefined).length
  return {
    templates,
    issues: [
      ...(custom > MOST_CUSTOM
        ? [`${CUSTOM}: has ${custom} templates, and at most ${MOST_CUSTOM} can be kinds`]
        : []),
      ...read.flatMap(({ issues }) => issues),
      ...[...maps].map((name) => `${name}: no template is called ${name.slice(0, -MAP.length)}`),
    ],
  }
}

const list = async (folder: string, below?: string): Promise<string[]> => {
  try {
    const names = await readdir(join(folder, below ?? ''))
    return names.toSorted().map((name) => (below === undefined ? name : `${below}/${name}`))
  } catch (error) {
    if (below !== undefined && isCode(error, 'ENOENT')) return []
    throw error
  }
}
