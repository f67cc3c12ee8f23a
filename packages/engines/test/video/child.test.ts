import assert from 'node:assert/strict'
import { chmod, mkdtemp, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { findChildUser, giveFolder } from '../../../../src/platform/adapters/child-user.ts'
import { ChildError, runChild } from '../../src/video/child.ts'
import { makeVideoEngine } from '../../src/video-engine.ts'
import { findProcessStart } from '../../../../src/platform/adapters/orphan.ts'
import { waitFor } from '../../../../test/support/wait.ts'
import { quiet, useStudio } from './studio.ts'

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
    const engine = makeVideoEngine({ binaries: { ...binaries, user }, maxPixels: 1e6 })
    const job = await studio.makeJob({ metaData: 'by nobody' })
    await chmod(job.scratchDir, 0o711)
    const { video } = await engine.render(job, quiet())
    assert.equal((await stat(video)).uid, process.getuid?.())
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
    assert.equal(error.code, undefined)
  })

  test('that finds no room says so by its code', async () => {
    const script = 'echo "av_interleaved_write_frame(): No space left on device" >&2; exit 228'
    await assert.rejects(shell(script), { name: 'ChildError', code: 'ENOSPC' })
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
    const recordChild = async (dir: string, group: number): Promise<string> => {
      const path = join(dir, `${group}.child`)
      await writeFile(path, '')
      return path
    }
    const binaries = { ...studio.binaries, recordChild }
    const lines: string[] = []
    const onLine = (line: string) => void lines.push(line)
    const script = 'echo $$; while [ ! -e go ]; do sleep 0.01; done'
    const running = shell(script, { binaries, onLine })
    const record = async () => (await readdir(studio.dir)).find((name) => name.endsWith('.child'))
    const name = await waitFor('the record', record)
    await waitFor('its number', async () => lines.length > 0)
    assert.equal(name, `${lines[0]}.child`)
    await writeFile(join(studio.dir, 'go'), '')
    await running
    assert.equal(await record(), undefined)
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
    const engine = makeVideoEngine({ binaries, maxPixels: 1e6 })
    await assert.rejects(engine.render(await studio.makeJob(), quiet()), /frames \d+ instead of 24/)
  })
})
