import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'

import { findBinaries } from '../../../packages/engines/test/video/studio.ts'
import {
  cleanUpOrphans,
  findProcessStart,
  recordChild,
} from '../../../src/platform/adapters/orphan.ts'
import { codePath } from '../../../src/local/root.ts'
import { useFolder } from '../../support/folder.ts'
import { waitFor } from '../../support/wait.ts'

/** Names of the records of children below a folder. */
const listRecords = async (dir: string): Promise<string[]> =>
  (await readdir(dir, { recursive: true })).filter((name) => name.endsWith('.child.json'))

describe('a rendering', () => {
  const folder = useFolder()

  /** Starts a process that renders, and kills it as soon as ffmpeg runs; returns the child's group and start. */
  const renderAndDie = async (
    how: string,
  ): Promise<{ dir: string; group: number; start: string }> => {
    const dir = await mkdtemp(join(folder, 'dead-'))
    const program = codePath('test/engines/adapters/render-alone.ts')
    const alone = spawn(process.execPath, [program, dir, how], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(alone.stdout, 'data')
    const [name = ''] = await listRecords(dir)
    const { group, groupStart } = JSON.parse(await readFile(join(dir, name), 'utf8')) as {
      group: number
      groupStart: string
    }
    alone.kill('SIGKILL')
    await once(alone, 'exit')
    return { dir, group, start: groupStart }
  }

  test('leaves no ffmpeg when its process is killed', async (t) => {
    if ((await findBinaries()).setpriv === undefined) return t.skip('setpriv is missing')
    const { group, start } = await renderAndDie('')
    await waitFor('ffmpeg is gone', async () => (await findProcessStart(group)) !== start)
  })

  test('leaves an ffmpeg that the next worker kills where there is no setpriv', async () => {
    const { dir, group, start } = await renderAndDie('bare')
    assert.equal(await findProcessStart(group), start)
    assert.equal(await cleanUpOrphans(folder), 1)
    await waitFor('ffmpeg is gone', async () => (await findProcessStart(group)) !== start)
    assert.deepEqual(await listRecords(dir), [])
  })
})

describe('the clean-up of orphans', () => {
  const folder = useFolder()

  /** Starts a process that is ended with the test. */
  const startSleeper = (context: TestContext) => {
    const child = spawn('sleep', ['300'], { detached: true, stdio: 'ignore' })
    context.after(async () => {
      child.kill('SIGKILL')
      await once(child, 'exit')
    })
    return child
  }

  test('spares the children of a worker that lives', async (t) => {
    const child = startSleeper(t)
    const path = await recordChild(folder, child.pid ?? 0)
    assert.ok(path)
    assert.equal(await cleanUpOrphans(folder), 0)
    assert.equal(child.exitCode, null)
    assert.ok(await stat(path))
  })

  test(
    'kills nothing for a record that a child of another user has written',
    { skip: process.getuid?.() !== 0 && 'only root has children of another user' },
    async (t) => {
      const group = startSleeper(t).pid ?? 0
      const groupStart = (await findProcessStart(group)) ?? ''
      const path = join(folder, 'forged.child.json')
      const record = { group, groupStart, owner: group, ownerStart: '1' }
      await writeFile(path, JSON.stringify(record))
      await chown(path, 65_534, 65_534)
      assert.equal(await cleanUpOrphans(folder), 0)
      assert.equal(await findProcessStart(group), groupStart)
    },
  )

  test('spares a process that has got the number of a child since', async (t) => {
    const group = startSleeper(t).pid ?? 0
    const record = { group, groupStart: '1', owner: group, ownerStart: '1' }
    await writeFile(join(folder, 'old.child.json'), JSON.stringify(record))
    await writeFile(join(folder, 'cut.child.json'), '{"group":')
    assert.equal(await cleanUpOrphans(folder), 0)
    assert.notEqual(await findProcessStart(group), undefined)
    await assert.rejects(stat(join(folder, 'old.child.json')))
  })
})
