import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'

/** Folders from the callers down to what is called, which is the order in which they are drawn. */
const ROOMS = [
  'entries',
  'local',
  'operate',
  'http',
  'tasks',
  'alias',
  'json-body',
  'jobs',
  'workflows',
  'activities',
  'process',
  'adapters',
  'db',
  'inspector',
  'engines',
  'domain',
  'config, log',
] as const
type Room = (typeof ROOMS)[number]

/** Nearly all folders import these or are imported by them: their arrows would hide all others. */
const UNDRAWN: readonly Room[] = ['entries', 'domain', 'config, log']

/** Imports of one folder by another: of values, and of types alone. */
interface Arrow {
  from: Room
  to: Room
  values: number
  types: number
}

/** A Mermaid diagram of the folders and of the imports between them. */
export const drawStructure = async (root: string): Promise<string> => {
  const files = await listFiles(root)
  const arrows = countArrows(await Promise.all(files.map((file) => readImports(root, file))))
  const drawn = ROOMS.filter((room) => !UNDRAWN.includes(room))
  const sizeOf = (room: Room): number => files.filter((file) => roomOf(file) === room).length
  const lines = [
    ...drawn.map((room) => `${room}["<b>${room}</b><br/>${sizeOf(room)} files"]`),
    ...arrows
      .filter(({ from, to }) => drawn.includes(from) && drawn.includes(to))
      .map(({ from, to, values, types }) =>
        values === 0 ? `${from} -. ${types} .-> ${to}` : `${from} -- ${values + types} --> ${to}`,
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

const roomOf = (path: string): Room => {
  const [first = '', second = '', ...deeper] = path.split('/')
  const name = ['src', 'packages'].includes(first) ? second : first
  if (['config.ts', 'log.ts'].includes(name)) return 'config, log'
  if (first === 'src' && deeper.length === 0) return 'entries'
  const room = ROOMS.find((one) => one === name)
  if (!room)
    throw new Error(`${name} is no folder that tools/docs/structure.ts knows: add it to ROOMS`)
  return room
}

/** A statement of its own, or a call; `type` stands before the names when nothing but types is taken. */
const IMPORT = /^(?:import|export)( type)?\b[^';]*? from '(\.[^']+)'|import\('(\.[^']+)'\)/gm

interface Import {
  from: Room
  to: Room
  isType: boolean
}

const readImports = async (root: string, file: string): Promise<Import[]> => {
  const source = await readFile(join(root, file), 'utf8')
  return [...source.matchAll(IMPORT)].map(([, type, path, called = '']) => ({
    from: roomOf(file),
    to: roomOf(relative('.', join(dirname(file), path ?? called))),
    isType: type !== undefined,
  }))
}

const countArrows = (imports: Import[][]): Arrow[] =>
  ROOMS.flatMap((from) =>
    ROOMS.filter((to) => to !== from).map((to) => {
      const found = imports.flat().filter((one) => one.from === from && one.to === to)
      const types = found.filter(({ isType }) => isType).length
      return { from, to, values: found.length - types, types }
    }),
  ).filter(({ values, types }) => values + types > 0)
