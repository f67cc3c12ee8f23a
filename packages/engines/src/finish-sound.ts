import { join } from 'node:path'

import { peekInto } from './image-parts.ts'
import type { VideoEngineOptions } from './video-engine.ts'
import { inFolder, moveOut } from './video-engine.ts'
import type { ProbeControl } from './video-job.ts'
import { runChild } from './video/child.ts'
import { CONFINED, QUIET } from './video/options.ts'

/** Formats of sounds, which are the names of files and of ffmpeg's formats, too. */
const TYPES = { flac: 'audio/flac', mp3: 'audio/mpeg', ogg: 'audio/ogg', wav: 'audio/wav' } as const

export interface FinishedSound {
  file: string
  extension: keyof typeof TYPES
  contentType: string
}

/**
 * Makes a result of a sound that another program has made: as it is, without what stands in the file beside it. Undefined of
 * what is no sound.
 * @throws Error when it is damaged
 */
export type FinishSound = (
  path: string,
  control: ProbeControl,
) => Promise<FinishedSound | undefined>

export const makeFinishSound =
  ({ binaries }: VideoEngineOptions): FinishSound =>
  async (path, { scratchDir, signal }) => {
    const extension = await readFormat(path)
    if (extension === undefined) return undefined
    const file = join(scratchDir, 'sound')
    await inFolder(scratchDir, binaries.user, async (dir) => {
      const input = `-f ${extension} -i file:${path} -map 0:a:0 -c:a copy`
      const output = `-map_metadata -1 -fflags +bitexact -f ${extension} file:sound`
      const args = [...QUIET, '-xerror', ...CONFINED, ...`${input} ${output}`.split(' ')]
      await runChild({ program: binaries.ffmpeg.path, args, dir, signal, binaries })
      await moveOut(join(dir, 'sound'), file, undefined)
    })
    return { file, extension, contentType: TYPES[extension] }
  }

const readFormat = async (path: string): Promise<keyof typeof TYPES | undefined> => {
  const head = await peekInto(path, async (peek) => (await peek(0, 12)).toString('latin1', 0, 12))
  if (head.startsWith('fLaC')) return 'flac'
  if (head.startsWith('OggS')) return 'ogg'
  if (/^RIFF[^]{4}WAVE/.test(head)) return 'wav'
  return /^(ID3|\xff[\xe0-\xff])/.test(head) ? 'mp3' : undefined
}
