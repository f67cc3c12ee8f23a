import assert from 'node:assert/strict'
import { chmod, mkdir, mkdtemp, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, test } from 'node:test'

import { useFolder } from '../support/folder.ts'
import { findTemporalCli } from '../../src/local/temporal-cli.ts'
import type { MakeTemporal } from '../../src/local/temporal-version.ts'

const respond = (version: string): string =>
  `temporal version ${version} (Server 1.31.2, UI 2.50.1)`

const writeProgram = async (path: string, output: string): Promise<string> => {
  await mkdir(join(path, '..'), { recursive: true })
  await writeFile(path, `#!/bin/sh\necho '${output}'\n`)
  await chmod(path, 0o755)
  return path
}
const reject: MakeTemporal = async () => {
  throw new Error('no network')
}
const making =
  (output: string): MakeTemporal =>
  async (path) =>
    void (await writeProgram(path, output))

describe('the temporal program', () => {
  const root = useFolder()
  let folder: string
  let said: string[]
  const say = (line: string): void => {
    said.push(line)
  }

  const find = async (env: NodeJS.ProcessEnv, ...makers: MakeTemporal[]) =>
    await findTemporalCli({
      env,
      say,
      cacheDir: join(folder, 'cache'),
      makers: makers.map((make, index) => ({ what: `way ${index + 1}`, make })),
    })

  beforeEach(async () => {
    said = []
    folder = await mkdtemp(join(root, 'case-'))
  })

  test('is the one of TEMPORAL_CLI_PATH before all others', async () => {
    const given = await writeProgram(join(folder, 'given'), respond('1.9.0'))
    await writeProgram(join(folder, 'bin/temporal'), respond('1.8.2'))
    const cli = await find({ TEMPORAL_CLI_PATH: given, PATH: join(folder, 'bin') })
    assert.deepEqual(cli, { path: given, version: '1.9.0', serverVersion: '1.31.2' })
  })

  test('of TEMPORAL_CLI_PATH must work and be recent', async () => {
    await writeProgram(join(folder, 'bin/temporal'), respond('1.8.2'))
    const PATH = join(folder, 'bin')
    const old = await writeProgram(join(folder, 'old'), respond('1.7.4'))
    const other = await writeProgram(join(folder, 'other'), 'something else')
    await assert.rejects(find({ TEMPORAL_CLI_PATH: old, PATH }), /is version 1\.7\.4/)
    await assert.rejects(find({ TEMPORAL_CLI_PATH: other, PATH }), /something else/)
    await assert.rejects(find({ TEMPORAL_CLI_PATH: join(folder, 'none'), PATH }), /ENOENT/)
  })

  test('on the PATH is the first that is recent', async () => {
    const old = await writeProgram(join(folder, 'a/temporal'), respond('1.7.4'))
    const broken = await writeProgram(join(folder, 'b/temporal'), 'oops')
    const good = await writeProgram(join(folder, 'c/temporal'), respond('2.0.0'))
    const PATH = ['a', 'b', 'none', 'c'].map((name) => join(folder, name)).join(':')
    assert.equal((await find({ PATH })).path, good)
    assert.deepEqual(said, [
      `${old} is not used: version 1.7.4 is older than 1.8`,
      `${broken} is not used: it does not report its version`,
    ])
  })

  test('is made by the first way that works, once', async () => {
    const make = making(respond('1.8.2'))
    const made = await find({ PATH: '/nothing' }, reject, make, reject)
    assert.equal(made.path, join(folder, 'cache/temporal-1.8.2/temporal'))
    assert.deepEqual(said, ['no way 1 of temporal: no network'])
    assert.deepEqual(await find({ PATH: '/nothing' }), made)
  })

  test('a Temporal CLI that does not report its version is not kept', async () => {
    const make = making('half of it')
    await assert.rejects(find({ PATH: '/nothing' }, reject, make), (error: Error) => {
      assert.match(error.message, /way 1: no network/)
      assert.match(error.message, /way 2: .*half of it/)
      assert.match(error.message, /TEMPORAL_CLI_PATH.*Go 1\.26.*TEMPORAL_ADDRESS/)
      return true
    })
    assert.deepEqual(await readdir(join(folder, 'cache/temporal-1.8.2')), [])
  })
})
