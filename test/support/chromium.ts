/**
 * The Chromium that the package @sparticuz/chromium carries, for Linux on x64 with glibc. It runs with the libraries of that
 * package and our own fonts: it needs nothing of the machine, and draws the same on each.
 */
import { execFile } from 'node:child_process'
import { createReadStream, createWriteStream, existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createBrotliDecompress } from 'node:zlib'

import envPaths from 'env-paths'

import { ROOT } from '../../src/local/root.ts'

/** Its libraries are linked with this one. */
const LEAST_GLIBC = [2, 34] as const

interface Package {
  /** The folder of its compressed files. */
  bin: string
  /** The folder of what they are unpacked to. */
  unpacked: string
}

const find = (): Package | undefined => {
  if (process.platform !== 'linux' || process.arch !== 'x64' || !hasGlibc()) return undefined
  let entry
  try {
    entry = createRequire(import.meta.url).resolve('@sparticuz/chromium')
  } catch {
    return undefined
  }
  const root = join(dirname(entry), '../..')
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    version: string
  }
  const { cache } = envPaths('kiln', { suffix: '' })
  return { bin: join(root, 'bin'), unpacked: join(cache, `chromium-${version}`) }
}

const hasGlibc = (): boolean => {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } }
  const [major = 0, minor = 0] = header.glibcVersionRuntime?.split('.').map(Number) ?? []
  return major === LEAST_GLIBC[0] && minor >= LEAST_GLIBC[1]
}

const found = find()

/** Its path, where there may be no file yet; undefined where it is not installed or does not run. */
export const PACKAGED = found && join(found.unpacked, 'chromium')

/** Unpacks it into the user's cache unless it is there. Returns the environment that it runs in. */
export const unpackChromium = async (): Promise<NodeJS.ProcessEnv> => {
  if (found === undefined) throw new Error('no @sparticuz/chromium for this machine')
  if (!existsSync(found.unpacked)) await unpack(found)
  return {
    ...process.env,
    LD_LIBRARY_PATH: join(found.unpacked, 'lib'),
    FONTCONFIG_FILE: join(ROOT, 'test/support/fonts.conf'),
    // Of C.UTF-8 it makes a language that Intl does not know.
    LC_ALL: 'en_US.UTF-8',
  }
}

/** Under another name until it is whole, as several processes may unpack it at once and any may be killed. */
const unpack = async ({ bin, unpacked }: Package): Promise<void> => {
  await mkdir(dirname(unpacked), { recursive: true })
  const part = await mkdtemp(`${unpacked}.`)
  try {
    await decompress(join(bin, 'chromium.br'), join(part, 'chromium'))
    const libraries = join(part, 'lib.tar')
    await decompress(join(bin, 'al2023.tar.br'), libraries)
    await promisify(execFile)('tar', ['-x', '-f', libraries, '-C', part])
    await rm(libraries)
    await rename(part, unpacked).catch((error: unknown) => {
      // Another process was faster.
      if (!existsSync(unpacked)) throw error
    })
  } finally {
    await rm(part, { recursive: true, force: true })
  }
}

const decompress = async (from: string, to: string): Promise<void> =>
  await pipeline(
    createReadStream(from),
    createBrotliDecompress(),
    createWriteStream(to, { mode: 0o755 }),
  )
