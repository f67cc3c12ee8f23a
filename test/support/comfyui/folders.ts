import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, extname, join, normalize, resolve } from 'node:path'

export type FolderType = 'input' | 'output' | 'temp'

/** Name of a stored file as every response gives it. */
export interface StoredFile {
  filename: string
  subfolder: string
  type: FolderType
}

export interface Folders {
  root: string
  path(type: FolderType): string
  listInputs(): Promise<string[]>
  /** Finds the file of an input's value, such as `folder/name.png` or `name.png [output]`. */
  findAnnotated(value: string): string | undefined
  /** Stores an upload; a number is the status of a rejection. */
  upload(form: FormData): Promise<{ name: string; subfolder: string; type: FolderType } | number>
  /** Finds what `/view` asks for; a number is the status of a rejection. */
  view(query: URLSearchParams): Promise<string | number>
  /** Makes the next names of `<prefix>_00001_.png` and so on, in the folder of the prefix. */
  nameOutputs(prefix: string, of: NamesOf): Promise<NamedOutput[]>
  clearTemp(): Promise<void>
}

interface NamesOf {
  type: FolderType
  extension: string
  count: number
}

export interface NamedOutput {
  path: string
  file: StoredFile
}

const TYPES: readonly string[] = ['input', 'output', 'temp']

const isType = (type: string): type is FolderType => TYPES.includes(type)

export const makeFolders = async (root: string): Promise<Folders> => {
  const path = (type: FolderType): string => join(root, type)
  for (const type of TYPES) await mkdir(join(root, type), { recursive: true })
  return {
    root,
    path,
    async listInputs() {
      const entries = await readdir(path('input'), { withFileTypes: true })
      return entries
        .filter((entry) => entry.isFile())
        .map(({ name }) => name)
        .toSorted()
    },
    findAnnotated(value) {
      const [, name = '', type = 'input'] =
        /^(.*?)(?: ?\[(input|output|temp)\])?$/.exec(value) ?? []
      const folder = path(type as FolderType)
      // An absolute path is taken as it is, as ComfyUI does; only `..` is rejected.
      const found = name.startsWith('/') ? name : resolve(folder, name)
      if (!name.startsWith('/') && !isBelow(folder, found)) return undefined
      return existsSync(found) ? found : undefined
    },
    async upload(form) {
      const image = form.get('image')
      if (!(image instanceof File) || image.name === '') return 400
      const type = text(form.get('type')) ?? 'input'
      if (!isType(type)) return 500
      const subfolder = text(form.get('subfolder')) ?? ''
      const folder = resolve(path(type), normalize(subfolder))
      if (!isBelow(path(type), resolve(folder, image.name))) return 400
      if (Buffer.byteLength(image.name) > 255) return 500
      await mkdir(folder, { recursive: true })
      const bytes = Buffer.from(await image.arrayBuffer())
      const overwrite = ['true', '1'].includes(text(form.get('overwrite')) ?? '')
      const name = overwrite ? image.name : await findFreeName(folder, image.name, bytes)
      if (!existsSync(dirname(resolve(folder, name)))) return 500
      await writeFile(resolve(folder, name), bytes)
      return { name, subfolder, type }
    },
    async view(query) {
      const filename = query.get('filename')
      if (filename === null) return 404
      const type = query.get('type') ?? 'output'
      if (filename === '' || filename.startsWith('/') || filename.includes('..')) return 400
      if (!isType(type)) return 400
      const folder = resolve(path(type), query.get('subfolder') ?? '')
      if (!isBelow(path(type), folder)) return 403
      const found = join(folder, basename(filename))
      return (await stat(found).catch(() => undefined))?.isFile() ? found : 404
    },
    async nameOutputs(prefix, { type, extension, count }) {
      const subfolder = dirname(normalize(prefix)) === '.' ? '' : dirname(normalize(prefix))
      const folder = resolve(path(type), subfolder)
      if (!isBelow(path(type), folder))
        throw new Error('Saving image outside the output folder is not allowed.')
      await mkdir(folder, { recursive: true })
      const name = basename(normalize(prefix))
      const last = await findLastCounter(folder, name)
      return Array.from({ length: count }, (_, index) => {
        const number = String(last + 1 + index).padStart(5, '0')
        const filename = `${name}_${number}_.${extension}`
        return { path: join(folder, filename), file: { filename, subfolder, type } }
      })
    },
    async clearTemp() {
      await rm(path('temp'), { recursive: true, force: true })
      await mkdir(path('temp'), { recursive: true })
    },
  }
}

const text = (value: File | string | null): string | undefined =>
  typeof value === 'string' ? value : undefined

const isBelow = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(`${folder}/`)

/** The same bytes keep their name; others get ` (1)` and so on. */
const findFreeName = async (folder: string, name: string, bytes: Buffer): Promise<string> => {
  const extension = extname(name)
  const stem = name.slice(0, name.length - extension.length)
  let free = name
  for (let index = 1; existsSync(join(folder, free)); index += 1) {
    if (digest(await readFile(join(folder, free))) === digest(bytes)) return free
    free = `${stem} (${index})${extension}`
  }
  return free
}

const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

const findLastCounter = async (folder: string, name: string): Promise<number> => {
  const counters = (await readdir(folder))
    .filter((file) => file.startsWith(`${name}_`))
    .map((file) => Number.parseInt(file.slice(name.length + 1).split('_')[0] ?? '', 10) || 0)
  return Math.max(0, ...counters)
}

/** Empties or removes what a prompt has written. */
export const spoilOutput = async (path: string, how: 'gone' | 'truncated'): Promise<void> => {
  if (how === 'gone') return await rm(path, { force: true })
  const bytes = await readFile(path)
  await writeFile(path, bytes.subarray(0, Math.floor(bytes.length / 2)))
}
