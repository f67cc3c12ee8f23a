import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, chmod, mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { findChildUser, giveFolder } from '../../../src/adapters/child-user.ts'
import { ChildError, runChild } from '../../../src/adapters/video-engine/child.ts'
import { makeLocalVideoEngine } from '../../../src/adapters/video-engine/local.ts'
import {
  recordChild,
  cleanUpOrphans,
  findProcessStart,
} from '../../../src/adapters/video-engine/orphan.ts'
import { codePath } from '../../../src/local/root.ts'
import { waitFor } from '../../support/wait.ts'
import { quiet, useStudio } from './studio.ts'

/** Names of the records of children below a folder. */
const listRecords = async (dir: string): Promise<string[]> =>
  (await readdir(dir, { recursive: true })).filter((name) => name.endsWith('.child.json'))

describe('a child of the video engine', () => {
  const studio = useStudio()

  const shell = (script: string, part: Partial<Parameters<typeof runChild>[0]> = {}) =>
    runChild({
      program: '/bin/sh',
      args: ['-c', script],
      dir: studio.dir,
      signal: new AbortController().signal,
      binaries: studio.binaries,
      ...part,
    })

  /** Lines that a script prints. */
  const linesOf = async (...[script, part]: Parameters<typeof shell>): Promise<string[]> => {
    const lines: string[] = []
    await shell(script, { ...part, onLine: (line) => void lines.push(line) })
    return lines
  }

  test('has an empty environment, its folder, and a process group of its own', async () => {
    const [dir, group, pid, ...variables] = await linesOf(
      'pwd; ps -o pgid= -p $$; echo $$; /usr/bin/env',
    )
    assert.equal(dir, studio.dir)
    assert.equal(group?.trim(), pid)
    // What the shell itself sets.
    const names = variables.map((line) => line.split('=')[0] ?? '')
    assert.deepEqual(
      names.filter((name) => !SHELL.has(name)),
      [],
    )
  })

  test('may take so much memory and no more', async (t) => {
    if (studio.binaries.setpriv === undefined) return t.skip('there is no setpriv')
    assert.deepEqual(await linesOf('ulimit -v'), [String(4096 * 1024)])
    assert.deepEqual(await linesOf('ulimit -v', { memoryMib: 512 }), [String(512 * 1024)])
  })

  test('is of another user where this process is root, and reads nothing of this one', async (t) => {
    const { dir, binaries } = studio
    const user = await findChildUser(dir, {
      programs: [process.execPath, binaries.ffmpeg.path, binaries.ffprobe.path],
    })
    if (user === undefined) return t.skip('this process is not root')
    const own = await mkdtemp(join(dir, 'of-nobody-'))
    await giveFolder(own, user)
    const attempts = [`/proc/${process.pid}/environ`, `/proc/${process.pid}/mem`].map(
      (path) => `(head -c 1 ${path} > seen) 2>/dev/null && echo reads ${path};`,
    )
    const script = `id -u; ${attempts.join(' ')} ls .. 2>/dev/null; echo x > made && echo writes`
    const lines = await linesOf(script, { dir: own, binaries: { ...binaries, user } })
    assert.deepEqual(lines, [String(user.uid), 'writes'])
    const engine = makeLocalVideoEngine({ binaries: { ...binaries, user }, maxPixels: 1e6 })
    const job = await studio.makeJob({ metaData: 'by nobody' })
    await chmod(job.scratchDir, 0o711)
    const { video } = await engine.render(job, quiet())
    assert.equal((await stat(video)).uid, process.getuid?.())
  })

  test('has no other user where nobody can reach what it needs', async () => {
    const hidden = join(await mkdtemp(join(studio.dir, 'hidden-')), 'program')
    await writeFile(hidden, '#!/bin/sh', { mode: 0o755 })
    for (const needed of [{ programs: [hidden] }, { programs: [], files: [hidden] }])
      assert.equal(await findChildUser(studio.dir, needed), undefined)
    const closed = await mkdtemp(join(studio.dir, 'closed-'))
    const below = await mkdtemp(join(closed, 'below-'))
    assert.equal(await findChildUser(below, { programs: [] }), undefined, 'nor what is in it')
  })

  test('that fails shows the last 4 KiB of its standard error in the cause only', async () => {
    const error = await shell(
      'i=0; while [ $i -lt 900 ]; do echo "line $i" >&2; i=$((i+1)); done; exit 3',
    ).then(
      () => assert.fail('it fails'),
      (cause: unknown) => cause,
    )
    assert.ok(error instanceof ChildError)
    assert.equal(error.exitCode, 3)
    assert.ok(!error.message.includes('line'))
    const { message } = error.cause as Error
    assert.ok(message.endsWith('line 899\n'))
    assert.ok(Buffer.byteLength(message) <= 4096)
  })

  test('is ended by an abort, with what it started, even when it ignores SIGTERM', async () => {
    const stop = new AbortController()
    const lines: string[] = []
    const onLine = (line: string) => {
      lines.push(line)
      stop.abort(new Error('enough'))
    }
    const script = `trap '' TERM; sleep 300 & echo "$$ $!"; while :; do wait; done`
    await assert.rejects(shell(script, { signal: stop.signal, onLine }), { message: 'enough' })
    for (const pid of (lines[0] ?? '').split(' ').map(Number))
      await waitFor(`${pid} is gone`, async () => (await findProcessStart(pid)) === undefined)
  })

  test('does not start once its signal is aborted', async () => {
    const signal = AbortSignal.abort(new Error('too late'))
    await assert.rejects(shell('touch started', { signal }), { message: 'too late' })
    await assert.rejects(stat(join(studio.dir, 'started')))
  })

  test('is recorded while it runs', async () => {
    const running = shell('while [ ! -e go ]; do sleep 0.01; done')
    const [name = ''] = await waitFor('the record', async () => {
      const names = await listRecords(studio.dir)
      return names.length > 0 && names
    })
    const record = await waitFor('its text', () => readFile(join(studio.dir, name), 'utf8'))
    const { group, owner } = JSON.parse(record) as { group: number; owner: number }
    assert.deepEqual([`${group}.child.json`, owner], [name, process.pid])
    await writeFile(join(studio.dir, 'go'), '')
    await running
    assert.deepEqual(await listRecords(studio.dir), [])
  })
})

const SHELL = new Set(['PWD', 'OLDPWD', 'SHLVL', '_'])

describe('a rendering', () => {
  const studio = useStudio()

  const LONG = { width: 1280, height: 720, seconds: 16 }

  test('stops when its signal is aborted, and leaves nothing', async () => {
    const job = await studio.makeJob(LONG)
    const stop = new AbortController()
    const onProgress = () => stop.abort(new Error('cancelled'))
    const rendering = studio.engine.render(job, { signal: stop.signal, onProgress })
    await assert.rejects(rendering, { message: 'cancelled' })
    assert.deepEqual(await readdir(job.scratchDir), [])
  })

  test('fails when it is not done within its deadline', async () => {
    const job = await studio.makeJob({ ...LONG, deadlineMs: 500 })
    await assert.rejects(studio.engine.render(job, quiet()), { message: /within its deadline/ })
    assert.deepEqual(await readdir(job.scratchDir), [])
  })

  test('fails when its program ends well but leaves a cut file', async () => {
    const cheat = join(studio.dir, 'cheat')
    const script = `#!/bin/sh
${studio.binaries.ffmpeg.path} "$@" && [ -f clean.mp4 ] && dd if=clean.mp4 of=cut bs=1 count=4000 2>/dev/null && mv cut clean.mp4
exit 0
`
    await writeFile(cheat, script)
    await chmod(cheat, 0o755)
    const binaries = { ...studio.binaries, ffmpeg: { path: cheat, origin: 'configured' as const } }
    const engine = makeLocalVideoEngine({ binaries, maxPixels: 1e6 })
    await assert.rejects(engine.render(await studio.makeJob(), quiet()), /frames \d+ instead of 24/)
  })

  /** Starts a process that renders, and kills it as soon as ffmpeg runs; returns the child's group and start. */
  const renderAndDie = async (
    how: string,
  ): Promise<{ dir: string; group: number; start: string }> => {
    const dir = await mkdtemp(join(studio.dir, 'dead-'))
    const program = codePath('test/adapters/video-engine/render-alone.ts')
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
    if (studio.binaries.setpriv === undefined) return t.skip('setpriv is missing')
    const { group, start } = await renderAndDie('')
    await waitFor('ffmpeg is gone', async () => (await findProcessStart(group)) !== start)
  })

  test('leaves an ffmpeg that the next worker kills where there is no setpriv', async () => {
    const { dir, group, start } = await renderAndDie('bare')
    assert.equal(await findProcessStart(group), start)
    assert.equal(await cleanUpOrphans(studio.dir), 1)
    await waitFor('ffmpeg is gone', async () => (await findProcessStart(group)) !== start)
    assert.deepEqual(await listRecords(dir), [])
  })
})

describe('the clean-up of orphans', () => {
  const studio = useStudio()

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
    const path = await recordChild(studio.dir, child.pid ?? 0)
    assert.ok(path)
    assert.equal(await cleanUpOrphans(studio.dir), 0)
    assert.equal(child.exitCode, null)
    assert.ok(await stat(path))
  })

  test(
    'kills nothing for a record that a child of another user has written',
    { skip: process.getuid?.() !== 0 && 'only root has children of another user' },
    async (t) => {
      const group = startSleeper(t).pid ?? 0
      const groupStart = (await findProcessStart(group)) ?? ''
      const path = join(studio.dir, 'forged.child.json')
      const record = { group, groupStart, owner: group, ownerStart: '1' }
      await writeFile(path, JSON.stringify(record))
      await chown(path, 65_534, 65_534)
      assert.equal(await cleanUpOrphans(studio.dir), 0)
      assert.equal(await findProcessStart(group), groupStart)
    },
  )

  test('spares a process that has got the number of a child since', async (t) => {
    const group = startSleeper(t).pid ?? 0
    const record = { group, groupStart: '1', owner: group, ownerStart: '1' }
    await writeFile(join(studio.dir, 'old.child.json'), JSON.stringify(record))
    await writeFile(join(studio.dir, 'cut.child.json'), '{"group":')
    assert.equal(await cleanUpOrphans(studio.dir), 0)
    assert.notEqual(await findProcessStart(group), undefined)
    await assert.rejects(stat(join(studio.dir, 'old.child.json')))
  })
})
