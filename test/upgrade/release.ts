import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import type { Sql } from '../../src/db/client.ts'
import { ROOT } from '../../src/local/root.ts'

const run = promisify(execFile)

const FOLDER = join(ROOT, '.built/releases')

/** The checkout of a released tag with its own packages, built once and kept. Answers its folder. */
export const prepareRelease = async (tag: string, say: (line: string) => void): Promise<string> => {
  const folder = join(FOLDER, tag)
  if (existsSync(join(folder, 'dist/src/api.js'))) return folder
  say(`${tag}: install and build, once`)
  const unfinished = `${folder}.${process.pid}`
  await mkdir(unfinished, { recursive: true })
  try {
    const archive = join(unfinished, 'release.tar')
    await run('git', ['archive', '--output', archive, tag], { cwd: ROOT })
    await run('tar', ['-xf', archive], { cwd: unfinished })
    await run('npm', ['ci', '--silent'], { cwd: unfinished })
    await run('npm', ['run', 'build'], { cwd: unfinished })
    await rm(folder, { recursive: true, force: true })
    await rename(unfinished, folder)
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
  return folder
}

/** Gives an empty database the schema of a release, as its own `migrate` does. */
export const migrateToRelease = async (sql: Sql, release: string): Promise<void> => {
  const folder = join(release, 'src/db/migrations')
  await sql`
    create table migration (
      name text primary key,
      checksum text not null,
      applied_at timestamptz not null default clock_timestamp()
    )
  `
  for (const name of (await readdir(folder)).toSorted()) {
    const text = await readFile(join(folder, name), 'utf8')
    await sql.unsafe(text)
    const checksum = createHash('sha256').update(text).digest('hex')
    await sql`insert into migration (name, checksum) values (${name}, ${checksum})`
  }
}
