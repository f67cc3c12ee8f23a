import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { makeDatabase } from '../../src/platform/db/client.ts'
import type { Sql } from '../../src/platform/db/client.ts'
import { ROOT } from '../../src/local/root.ts'
import { OperatorError } from '../../src/platform/process/operator-error.ts'
import type { TestDatabase } from '../support/stack.ts'

const run = promisify(execFile)

const FOLDER = join(ROOT, '.built/releases')
const RELEASES = join(ROOT, 'test/upgrade/releases.json')

/** A release by the commit that it was made of: tags do not travel with every clone. */
interface Release {
  version: string
  commit: string
}

/** The commit that an upgrade starts from: RELEASE of the environment, else that of the newest release. */
export const findRelease = async (): Promise<string> => {
  const releases = JSON.parse(await readFile(RELEASES, 'utf8')) as Release[]
  const named = process.env['RELEASE'] || releases.at(-1)?.commit
  if (named === undefined)
    throw new OperatorError(
      'test/upgrade/releases.json names no release to upgrade from. Append {"version": …, "commit": …} to it, or set RELEASE to any commit.',
    )
  const args = ['rev-parse', '--verify', '--end-of-options', `${named}^{commit}`]
  const { stdout } = await run('git', args, { cwd: ROOT }).catch((error: unknown) => {
    const message = `${named} is no commit of this clone. Run git fetch --unshallow, or set RELEASE to another commit.`
    throw new OperatorError(message, { cause: error })
  })
  return stdout.trim()
}

/** Unpacks the files of a release into a folder. */
export const unpackRelease = async (commit: string, folder: string): Promise<void> => {
  const archive = join(folder, 'release.tar')
  await run('git', ['archive', '--output', archive, commit], { cwd: ROOT })
  await run('tar', ['-xf', archive], { cwd: folder })
  await rm(archive)
}

/** Makes the checkout of a release with its own packages, built once and kept. Returns its folder. */
export const prepareRelease = async (
  commit: string,
  say: (line: string) => void,
): Promise<string> => {
  const folder = join(FOLDER, commit)
  if (existsSync(join(folder, 'dist/src/api.js'))) return folder
  say(`${commit}: install and build, once`)
  const unfinished = `${folder}.${process.pid}`
  await mkdir(unfinished, { recursive: true })
  try {
    await unpackRelease(commit, unfinished)
    await run('npm', ['ci', '--silent'], { cwd: unfinished })
    await run('npm', ['run', 'build'], { cwd: unfinished })
    await rm(folder, { recursive: true, force: true })
    await rename(unfinished, folder)
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
  return folder
}

/** Creates a database at the schema of a release, by the release's own code. The server is removed with what is in it. */
export const createReleaseDatabase = async (
  name: string,
  release: string,
): Promise<TestDatabase> => {
  const url = new URL(process.env['TEST_DATABASE_URL'] ?? '')
  const open = (): Sql =>
    makeDatabase({ url: url.href, pool: 4, name: 'kiln test', statementTimeoutMs: 0 })
  const admin = open()
  await admin`create database ${admin(name)}`
  await admin.end()
  url.pathname = `/${name}`
  const sql = open()
  await migrateToRelease(url.href, release)
  return { url: url.href, sql, drop: () => sql.end({ timeout: 1 }) }
}

/** The path in a release where this is now, or where it was. */
export const findIn = (release: string, now: string, before: string): string =>
  [now, before].map((path) => join(release, path)).find(existsSync) ?? join(release, now)

/** Gives an empty database the schema of a release, by the release's own code. */
export const migrateToRelease = async (url: string, release: string): Promise<void> => {
  const file = findIn(release, 'dist/src/platform/db/migrate.js', 'dist/src/db/migrate.js')
  const { migrate } = (await import(file)) as {
    migrate(url: string): Promise<string[]>
  }
  await migrate(url)
}
