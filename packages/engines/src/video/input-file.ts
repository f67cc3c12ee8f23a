import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CONFINED, SCALER, VIDEO_COLOURS } from './options.ts'
import type { Picture } from './picture.ts'

/** The inputs of a run in their order; a filter graph names them by number. */
export interface InputFiles {
  args: string[]
  /** Writes a picture and gives the text that begins a chain with it, in the colours of the video. */
  addPicture(picture: Picture): Promise<string>
  /** Takes a file that is there already, relative to the folder or absolute; returns its number. */
  addFile(path: string, options: readonly string[]): number
}

/** Keeps inputs of a run in one folder, under names of ours. */
export const makeInputFiles = (dir: string): InputFiles => {
  const args: string[] = []
  let count = 0
  const addFile: InputFiles['addFile'] = (path, options) => {
    args.push(...CONFINED, ...options, '-i', `file:${path}`)
    count += 1
    return count - 1
  }
  return {
    args,
    addFile,
    async addPicture({ data, width, height, channels }) {
      const name = `picture-${count}.raw`
      await writeFile(join(dir, name), data)
      const format = channels === 4 ? 'rgba' : 'rgb24'
      const shape = `-pixel_format ${format} -video_size ${width}x${height} -framerate 24`
      const index = addFile(name, ['-f', 'rawvideo', ...shape.split(' ')])
      const target = channels === 4 ? 'yuva420p' : 'yuv420p'
      return `[${index}:v]scale=${VIDEO_COLOURS}:${SCALER},format=${target},setsar=1`
    },
  }
}
