import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv } from 'node:util'

import { OWN_KEYS } from '../compose/settings/issues.ts'
import { folderIssue } from '../platform/settings/folder.ts'
import { splitList } from '../platform/settings/schema.ts'
import { openStorage } from '../platform/process/open-storage.ts'
import { OperatorError, OperatorWarning } from '../platform/process/operator-error.ts'
import { isCode } from '../platform/storage/files.ts'
import { makeChecks, type CheckDeps } from './checks.ts'
import { examine, type Check } from './doctor.ts'
import { checkKeptFiles } from './kept-files.ts'
import { counted } from '../platform/domain/counted.ts'

/** Names in a folder of `backup`, beside the dump of the database and the copy of the files. */
const SETTINGS = 'settings.env'
const KEYS = 'keys.env'
const TEMPLATES = 'templates'

/** Checks of the doctor of what is kept. */
const KEPT = ['postgres', 'database', 'schema', 'secrets', 'store']

interface Backup extends CheckDeps {
  /** Settings that are set, without keys, and the keys. */
  settings: NodeJS.ProcessEnv
  keys: NodeJS.ProcessEnv
  /** Values that nothing may show. */
  secrets: readonly string[]
}

/** The folder of a backup, and whether all files are looked up in the store or a sample. */
export interface BackupFolder {
  folder: string
  isWhole: boolean
}

/** Checks all that must be kept, and writes what neither the database nor the store holds into a new folder. */
export const backUp = async (deps: Backup, { folder, isWhole }: BackupFolder): Promise<string> => {
  const { config, settings, keys } = deps
  const lines = await requireWell(deps, makeKeptChecks(deps, isWhole))
  await mkdir(folder, { recursive: true, mode: 0o700 })
  if ((await readdir(folder)).length > 0)
    throw new OperatorError(`${folder} is not empty: name a new folder`)
  await writeFile(join(folder, SETTINGS), formatSettings(settings))
  await writeFile(join(folder, KEYS), formatSettings(keys), { mode: 0o600 })
  const templates = config.COMFYUI_TEMPLATES
  if (templates !== '') await cp(templates, join(folder, TEMPLATES), { recursive: true })
  const files = Object.entries(settings).filter(
    ([name]) => name.endsWith('_PATH') && !OWN.has(name),
  )
  return [
    ...lines,
    `written    ${[SETTINGS, `${KEYS} (mode 0600)`, ...(templates === '' ? [] : [TEMPLATES])].join(', ')} in ${folder}`,
    `to do      dump the database: pg_dump --format=custom --file ${join(folder, 'kiln.dump')} "$DATABASE_URL" (pg_dump of the server's version or later)`,
    config.STORAGE === 's3'
      ? `to do      then copy the bucket ${config.S3_BUCKET}, below ${config.S3_PREFIX || 'its root'}, to another`
      : `to do      then copy ${config.STORAGE_PATH} without .scratch`,
    ...files.map(([name, path]) => `to do      copy ${path}, which ${name} names`),
    `to do      move ${KEYS} elsewhere, away from dump and files: with both, everything can be read`,
  ].join('\n')
}

/** Folders that hold nothing to keep, or that are copied otherwise. */
const OWN = new Set(['STORAGE_PATH', 'SCRATCH_PATH', 'FFMPEG_PATH'])

/** Says of a place that was put back whether all of a backup is there and fits together. */
export const checkRestored = async (
  deps: Backup,
  { folder, isWhole }: BackupFolder,
): Promise<string> => {
  const { STORAGE: kind, STORAGE_PATH: path } = deps.config
  const issue = kind === 's3' ? undefined : folderIssue('STORAGE_PATH', path)
  // Whatever looks into a store makes its folder.
  if (issue !== undefined) throw new OperatorError(`${issue}: put the files there first`)
  const lines = await requireWell(deps, [
    ...makeKeptChecks(deps, isWhole),
    ['keys', [], `look at ${join(folder, KEYS)}`, () => checkKeys(deps, folder)],
    ['other settings', [], `look at ${join(folder, SETTINGS)}`, () => checkSettings(deps, folder)],
    ['templates', [], 'correct COMFYUI_TEMPLATES', () => checkTemplates(deps, folder)],
  ])
  return [...lines, 'all is there: start the service'].join('\n')
}

const requireWell = async (deps: Backup, checks: Check[]): Promise<string[]> => {
  const { lines, isWell } = await examine(checks, {
    issues: [],
    secrets: deps.secrets,
    limitMs: LOOK_MS,
  })
  if (!isWell) throw new OperatorError(['not all is there:', ...lines].join('\n'))
  return lines
}

/** All files of a large store take long to look up. */
const LOOK_MS = 24 * 3_600_000

const makeKeptChecks = (deps: Backup, isWhole: boolean): Check[] => [
  ...makeChecks(deps).filter(([name]) => KEPT.includes(name)),
  [
    'files',
    ['postgres'],
    'correct the settings of the store',
    async () => await checkKeptFiles(deps.sql(), await openStorage(deps.config), isWhole),
  ],
]

/** Lines that a shell, Docker Compose and Node read alike. */
const formatSettings = (settings: NodeJS.ProcessEnv): string =>
  Object.entries(settings)
    .map(([name, value = '']) => {
      if (!value.includes("'")) return `${name}='${value}'\n`
      if (/["$`\\]/.test(value))
        throw new OperatorError(`${name} has quotes that no file holds for all readers: change it`)
      return `${name}="${value}"\n`
    })
    .join('')

const readSettings = async (path: string): Promise<[name: string, value: string][]> =>
  Object.entries(parseEnv(await readFile(path, 'utf8'))).map(([name, value = '']) => [name, value])

/** Keys that open what the database holds are to be the same, though lists of them may have grown; others belong to the place. */
const checkKeys = async ({ keys }: Backup, folder: string): Promise<string> => {
  const kept = await readSettings(join(folder, KEYS))
  const isThere = ([name, value]: [string, string]): boolean => {
    const now = keys[name] ?? ''
    const isOpener = OWN_KEYS.some((key) => key === name)
    return isOpener ? splitList(value).every((key) => splitList(now).includes(key)) : now !== ''
  }
  const lost = kept.filter((one) => !isThere(one)).map(([name]) => name)
  if (lost.length > 0)
    throw new OperatorError(`${lost.join(', ')} lack what the backup has: put it back`)
  return `${kept.length} are set`
}

const checkSettings = async ({ settings: now }: Backup, folder: string): Promise<string> => {
  const settings = await readSettings(join(folder, SETTINGS))
  const others = settings.flatMap(([name, value]) => (now[name] === value ? [] : name))
  if (others.length === 0) return `${settings.length} are as they were`
  throw new OperatorWarning(
    `${others.toSorted().join(', ')} are not as they were: correct what is not of this place`,
  )
}

const checkTemplates = async ({ config }: Backup, folder: string): Promise<string> => {
  const names = await readdir(join(folder, TEMPLATES), { recursive: true }).catch((error) => {
    if (isCode(error, 'ENOENT')) return []
    throw error
  })
  const lost: string[] = []
  for (const name of names) {
    const kept = await read(join(folder, TEMPLATES), name)
    const now = kept && (await read(config.COMFYUI_TEMPLATES, name))
    if (kept && !now?.equals(kept)) lost.push(name)
  }
  if (lost.length > 0)
    throw new OperatorError(
      `${lost.join(', ')} are not there as they were: copy ${join(folder, TEMPLATES)} to COMFYUI_TEMPLATES`,
    )
  return names.length === 0
    ? 'none were kept'
    : counted(names.length, 'file is as it was', 'files are as they were')
}

/** Reads a file; undefined of a folder, and where there is none. */
const read = (root: string, name: string): Promise<Buffer | undefined> =>
  readFile(join(root, name)).catch((error: unknown) => {
    if (isCode(error, 'ENOENT', 'EISDIR')) return undefined
    throw error
  })
