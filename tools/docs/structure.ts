import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'

/** Areas: the first composes all others, the last is imported by all. An import never leads up. */
const AREAS = [
  'entries',
  'registry',
  'events',
  'engines',
  'tasks',
  'identity',
  'platform',
  'packages/inspector',
  'packages/engines',
] as const
type Area = (typeof AREAS)[number]

/** Folders of `src`, beside its own files, that compose areas. */
const ENTRIES = ['compose', 'local', 'operate']

/** Imports of one area by another: of values, and of types alone. */
interface Arrow {
  from: Area
  to: Area
  values: number
  types: number
}

/** A Mermaid diagram of the areas and of the imports between them. Throws where one leads up. */
export const drawStructure = async (root: string): Promise<string> => {
  const files = await listFiles(root)
  const imports = (await Promise.all(files.map((file) => readImports(root, file)))).flat()
  const upward = imports.filter(({ from, to }) => AREAS.indexOf(to) < AREAS.indexOf(from))
  if (upward.length > 0)
    throw new Error(
      `an area imports a higher one:\n${upward.map(({ file, imported }) => `${file} imports ${imported}`).join('\n')}`,
    )
  const arrows = countArrows(imports)
  const sizeOf = (area: Area): number => files.filter((file) => areaOf(file) === area).length
  const lines = [
    ...AREAS.map((area) => `${nameOf(area)}["<b>${area}</b><br/>${sizeOf(area)} files"]`),
    ...arrows.map(({ from, to, values, types }) =>
      values === 0
        ? `${nameOf(from)} -. ${types} .-> ${nameOf(to)}`
        : `${nameOf(from)} -- ${values + types} --> ${nameOf(to)}`,
    ),
  ]
  return ['```mermaid', 'flowchart TD', ...lines.map((line) => `  ${line}`), '```'].join('\n')
}

const listFiles = async (root: string): Promise<string[]> => {
  const folders = await Promise.all(
    ['src', 'packages/inspector/src', 'packages/engines/src', 'workflows', 'activities'].map(
      async (folder) =>
        (await readdir(join(root, folder), { recursive: true }))
          .filter((file) => file.endsWith('.ts'))
          .map((file) => join(folder, file)),
    ),
  )
  return folders.flat()
}

const areaOf = (path: string): Area => {
  const [first = '', second = '', ...deeper] = path.split('/')
  if (first === 'packages') return areaNamed(`packages/${second}`)
  const isEntry = deeper.length === 0 || ENTRIES.includes(second)
  return isEntry ? 'entries' : areaNamed(second)
}

const areaNamed = (name: string): Area => {
  const area = AREAS.find((one) => one === name)
  if (!area) throw new Error(`${name} is no area that ${import.meta.filename} knows`)
  return area
}

/** A name that Mermaid takes. */
const nameOf = (area: Area): string => area.replace('/', '_')

/** A statement of its own, or a call; `type` stands before the names when nothing but types is taken. */
const IMPORT = /^(?:import|export)( type)?\b[^';]*? from '(\.[^']+)'|import\('(\.[^']+)'\)/gm

interface Import {
  file: string
  imported: string
  from: Area
  to: Area
  isType: boolean
}

const readImports = async (root: string, file: string): Promise<Import[]> => {
  const source = await readFile(join(root, file), 'utf8')
  return [...source.matchAll(IMPORT)].map(([, type, path, called = '']) => {
    const imported = relative('.', join(dirname(file), path ?? called))
    return {
      file,
      imported,
      from: areaOf(file),
      to: areaOf(imported),
      isType: type !== undefined,
    }
  })
}

const countArrows = (imports: Import[]): Arrow[] =>
  AREAS.flatMap((from) =>
    AREAS.filter((to) => to !== from).map((to) => {
      const found = imports.filter((one) => one.from === from && one.to === to)
      const types = found.filter(({ isType }) => isType).length
      return { from, to, values: found.length - types, types }
    }),
  ).filter(({ values, types }) => values + types > 0)
