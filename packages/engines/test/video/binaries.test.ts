import assert from 'node:assert/strict'
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { findVideoBinaries } from '../../src/binaries.ts'
import type { BinarySearch } from '../../src/binaries.ts'
import { useFolder } from '../../../../test/support/folder.ts'

const FIT = `echo ' V....D libx264  x'; echo ' A....D aac  x'; for f in perspective tpad loop overlay; do echo " ... $f  x"; done`

describe('the search for ffmpeg', () => {
  const dir = useFolder()
  let packaged: string
  before(async () => void (packaged = await makeFolder('packaged', FIT)))

  /** A folder with an ffmpeg that says `script`, and an ffprobe. */
  const makeFolder = async (name: string, script: string): Promise<string> => {
    const folder = join(dir, name)
    await mkdir(folder)
    for (const tool of ['ffmpeg', 'ffprobe']) {
      await writeFile(join(folder, tool), `#!/bin/sh\n${script}\n`)
      await chmod(join(folder, tool), 0o755)
    }
    return folder
  }

  const find = (part: Partial<BinarySearch>) =>
    findVideoBinaries({
      searchPath: '',
      production: false,
      findPackaged: async (tool) => join(packaged, tool),
      ...part,
    })

  test('prefers a configured path, then PATH, then the packaged one', async () => {
    const [own, system] = [await makeFolder('own', FIT), await makeFolder('system', FIT)]
    const ffmpegPath = join(own, 'ffmpeg')
    const configured = await find({ ffmpegPath, searchPath: `/nowhere:${system}` })
    assert.deepEqual(configured.ffmpeg, { path: ffmpegPath, origin: 'configured' })
    assert.deepEqual(configured.ffprobe, { path: join(own, 'ffprobe'), origin: 'configured' })
    assert.equal(configured.readsCallerVideo, true)
    await rm(join(own, 'ffprobe'))
    const alone = await find({ ffmpegPath, searchPath: system })
    assert.deepEqual(alone.ffprobe, { path: join(system, 'ffprobe'), origin: 'system' })
    const fallback = await find({})
    assert.deepEqual(fallback.ffmpeg, { path: join(packaged, 'ffmpeg'), origin: 'packaged' })
  })

  test('lets the packaged one read callers’ videos only where there is no other, and never in production', async () => {
    assert.equal((await find({})).readsCallerVideo, true)
    assert.equal((await find({ production: true })).readsCallerVideo, false)
    const unfit = await makeFolder('unfit', `echo ' V....D h264  x'`)
    const found = await find({ searchPath: unfit })
    assert.equal(found.ffmpeg.origin, 'packaged')
    assert.equal(found.readsCallerVideo, false)
  })

  test('rejects a configured path that fails, and names its variable', async () => {
    const ffmpegPath = join(dir, 'none')
    const absent = /^Error: FFMPEG_PATH: .*none does not run \(ENOENT\): give the path/
    await assert.rejects(find({ ffmpegPath }), absent)
    const fit = await makeFolder('failing', FIT)
    await writeFile(join(fit, 'ffprobe'), '#!/bin/sh\nexit 1\n')
    const broken = /^Error: FFMPEG_PATH: .*ffprobe does not run/
    await assert.rejects(find({ ffmpegPath: join(fit, 'ffmpeg') }), broken)
  })

  test('names the variable to set when nothing is there', async () => {
    const findPackaged = async () => undefined
    const none = /there is no usable ffmpeg: install .* or set FFMPEG_PATH/
    await assert.rejects(find({ findPackaged }), none)
    const searchPath = await makeFolder('poor', `echo ' V....D libx264  x'`)
    await assert.rejects(find({ findPackaged, searchPath }), /poor\/ffmpeg lacks aac, perspective/)
  })
})
