import { execFile } from 'node:child_process'
import { access, chmod, constants, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'

/** The programs that render and probe. */
export interface VideoBinaries {
  ffmpeg: Binary
  ffprobe: Binary
  /**
   * True when they may read a caller's video: not the packaged ones in production, nor where the system has its own.
   */
  readsCallerVideo: boolean
  /** Absolute path of a `setpriv` that can end a child with its parent; undefined where there is none. */
  setpriv: string | undefined
  /** User that the programs run as; absent: this process's user. */
  user?: ChildUser | undefined
  /**
   * Writes down in the folder that a child works in that its process group is ours, for whoever comes after a process that
   * died; returns the path of the record, which is removed when the child has ended. Absent: nothing is recorded.
   */
  recordChild?: (dir: string, group: number) => Promise<string | undefined>
}

/** A user as `spawn` takes it. */
export interface ChildUser {
  uid: number
  gid: number
}

export interface Binary {
  path: string
  origin: 'configured' | 'system' | 'packaged'
}

export interface BinarySearch {
  /** FFMPEG_PATH; an ffprobe beside it is taken, too. */
  ffmpegPath?: string | undefined
  /** PATH. */
  searchPath: string
  production: boolean
  /** Finds the packaged programs. Absent: they come from the `@ffmpeg-installer` and `@ffprobe-installer` packages. */
  findPackaged?: (tool: Tool) => Promise<string | undefined>
}

export type Tool = 'ffmpeg' | 'ffprobe'

/**
 * Finds ffmpeg and ffprobe: a configured path, else the one on PATH, else the packaged one.
 * @throws Error that names the variable to set when a configured path fails, or when nothing usable is found
 */
export const findVideoBinaries = async (search: BinarySearch): Promise<VideoBinaries> => {
  const [ffmpeg, ffprobe] = await Promise.all([
    findTool('ffmpeg', search),
    findTool('ffprobe', search),
  ])
  const setpriv = await findSetpriv(search.searchPath)
  const packaged = [ffmpeg, ffprobe].filter(({ binary }) => binary.origin === 'packaged')
  return {
    ffmpeg: ffmpeg.binary,
    ffprobe: ffprobe.binary,
    readsCallerVideo:
      packaged.length === 0 || (!search.production && packaged.every((tool) => !tool.onSystem)),
    setpriv,
  }
}

interface FoundTool {
  binary: Binary
  /** True when PATH has one, usable or not. */
  onSystem: boolean
}

const findTool = async (tool: Tool, search: BinarySearch): Promise<FoundTool> => {
  const configured = await findConfigured(tool, search)
  const system = await findOnPath(tool, search.searchPath)
  if (configured !== undefined) {
    const error = await findIssue(tool, configured)
    if (error === undefined)
      return { binary: { path: configured, origin: 'configured' }, onSystem: system !== undefined }
    throw new Error(
      `FFMPEG_PATH: ${configured} ${error}: give the path of ${NEEDED[tool]}, or unset it`,
    )
  }
  const issues: string[] = []
  if (system !== undefined) {
    const error = await findIssue(tool, system)
    if (error === undefined) return { binary: { path: system, origin: 'system' }, onSystem: true }
    issues.push(`${system} ${error}`)
  }
  const packaged = await (search.findPackaged ?? findPackaged)(tool)
  if (packaged !== undefined) {
    const error = await findIssue(tool, packaged)
    if (error === undefined)
      return { binary: { path: packaged, origin: 'packaged' }, onSystem: system !== undefined }
    issues.push(`the packaged ${tool} ${error}`)
  }
  const known = issues.length > 0 ? ` (${issues.join('; ')})` : ''
  throw new Error(`there is no usable ${tool}${known}: install ${NEEDED[tool]} or set FFMPEG_PATH`)
}

/** FFMPEG_PATH, or the ffprobe beside it where there is one. */
const findConfigured = async (
  tool: Tool,
  { ffmpegPath }: BinarySearch,
): Promise<string | undefined> => {
  if (ffmpegPath === undefined || tool === 'ffmpeg') return ffmpegPath
  const beside = join(dirname(ffmpegPath), tool)
  return await access(beside).then(
    () => beside,
    () => undefined,
  )
}

const NEEDED: Record<Tool, string> = {
  ffmpeg: 'an ffmpeg 4.1 or later with libx264',
  ffprobe: 'an ffmpeg with an ffprobe beside it',
}

const execute = promisify(execFile)

/** The rest of a sentence that says why a program cannot be used, or undefined when it can. */
const findIssue = async (tool: Tool, path: string): Promise<string | undefined> => {
  try {
    if (tool === 'ffprobe') return void (await execute(path, ['-version'], LIMITS))
    const { stdout: encoders } = await execute(path, ['-hide_banner', '-encoders'], LIMITS)
    const { stdout: filters } = await execute(path, ['-hide_banner', '-filters'], LIMITS)
    const missing = [
      ...ENCODERS.filter((name) => !lists(encoders, name)),
      ...FILTERS.filter((name) => !lists(filters, name)),
    ]
    return missing.length === 0 ? undefined : `lacks ${missing.join(', ')}`
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : ''
    return `does not run${code}`
  }
}

const ENCODERS = ['libx264', 'aac']
/** The youngest is `tpad`, of 4.1. */
const FILTERS = ['perspective', 'tpad', 'loop', 'overlay']
const LIMITS = { timeout: 10_000, maxBuffer: 1 << 20, env: {} }

const lists = (table: string, name: string): boolean =>
  new RegExp(`^ \\S+ ${name} `, 'm').test(table)

const findOnPath = async (name: string, searchPath: string): Promise<string | undefined> => {
  const file = process.platform === 'win32' ? `${name}.exe` : name
  for (const folder of searchPath.split(delimiter).filter(Boolean)) {
    const path = join(folder, file)
    if (await isExecutable(path)) return path
  }
  return undefined
}

/** True when this user may run a file. */
export const isExecutable = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  )

const findPackaged = async (tool: Tool): Promise<string | undefined> => {
  const name = `@${tool}-installer/${process.platform}-${process.arch}/package.json`
  try {
    const folder = dirname(createRequire(import.meta.url).resolve(name))
    const path = join(folder, process.platform === 'win32' ? `${tool}.exe` : tool)
    // The ffprobe package sets the bit in an install script, which npm may be set not to run.
    // A child may also be of another user.
    if (((await stat(path)).mode & 0o111) !== 0o111) await chmod(path, 0o755).catch(() => {})
    return path
  } catch {
    return undefined
  }
}

/** Only util-linux's setpriv knows the option. It must also be allowed to start a program here. */
const findSetpriv = async (searchPath: string): Promise<string | undefined> => {
  if (process.platform !== 'linux') return undefined
  const path = await findOnPath('setpriv', searchPath)
  if (path === undefined) return undefined
  return execute(path, ['--pdeathsig', 'SIGKILL', '--', '/bin/sh', '-c', ':'], LIMITS).then(
    () => path,
    () => undefined,
  )
}
