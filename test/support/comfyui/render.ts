import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { buffer, json } from 'node:stream/consumers'

import CRC32 from 'crc-32'
import sharp from 'sharp'
import type { Sharp } from 'sharp'

import type { VideoBinaries } from '../../../packages/engines/src/binaries.ts'
import type { Folders, StoredFile } from './folders.ts'
import type { Graph } from './validate.ts'

/** Pictures of one size on their way between nodes: 8 bits each of red, green and blue. */
interface Pictures {
  width: number
  height: number
  frames: readonly Buffer[]
}

interface Video extends Pictures {
  fps: number
}

/** An exception of Python, as the history shows it. */
export class PythonError extends Error {
  readonly type: string
  constructor(type: string, message: string) {
    super(message)
    this.type = type
  }
}

export interface NodeRun {
  inputs: Record<string, unknown>
  folders: Folders
  /** Written into what is saved; undefined with `--disable-metadata`. */
  metadata: Graph | undefined
  binaries: () => Promise<VideoBinaries>
  /** Shows a step of the bar, at which an interrupt ends the node. */
  step(value: number, max: number): void
  sleep(ms: number): Promise<void>
  /** Ends the thread or the process: a fault of the class for tests. */
  die(how: 'thread' | 'process'): Promise<never>
}

/** Values at the outputs of a node, and of an output node the files that it saved. */
export interface NodeResult {
  values: readonly unknown[]
  ui?: { images?: StoredFile[]; audio?: StoredFile[]; animated?: boolean[]; text?: string[] }
}

type NodeFunction = (run: NodeRun) => Promise<NodeResult>

const one = (value: unknown): NodeResult => ({ values: [value] })

const numberOf = (run: NodeRun, name: string): number => Number(run.inputs[name])
const picturesOf = (run: NodeRun, name: string): Pictures => run.inputs[name] as Pictures

const passValue: NodeFunction = async ({ inputs }) => one(inputs['value'])

/** The functions of the classes. They render nearly what ComfyUI renders, in the same sizes and formats. */
export const NODE_FUNCTIONS: Readonly<Record<string, NodeFunction>> = {
  LoadImage: async ({ inputs, folders }) => {
    const path = folders.findAnnotated(String(inputs['image'])) ?? ''
    return { values: [await readPicture(path), undefined] }
  },
  EmptyImage: async (run) => {
    const [width, height, color] = ['width', 'height', 'color'].map((name) => numberOf(run, name))
    const pixel = Buffer.alloc(3)
    pixel.writeUIntBE(color ?? 0, 0, 3)
    const frame = Buffer.alloc((width ?? 0) * (height ?? 0) * 3, pixel)
    const frames = Array<Buffer>(numberOf(run, 'batch_size')).fill(frame)
    return one({ width, height, frames })
  },
  SaveImage: (run) => savePictures(run, 'output', String(run.inputs['filename_prefix'])),
  PreviewImage: (run) => savePictures(run, 'temp', `ComfyUI_temp_${randomLetters()}`),
  SaveAnimatedWEBP: (run) => saveAnimation(run, 'webp'),
  SaveAnimatedPNG: (run) => saveAnimation(run, 'png'),
  EmptyAudio: async (run) => one(numberOf(run, 'duration')),
  SaveAudio: async (run) => {
    const [named] = await run.folders.nameOutputs(String(run.inputs['filename_prefix']), {
      type: 'output',
      extension: 'flac',
      count: 1,
    })
    if (!named) return { values: [] }
    const { ffmpeg } = await run.binaries()
    const tags = run.metadata ? ['-metadata', `prompt=${JSON.stringify(run.metadata)}`] : []
    const sound = ['-f', 'lavfi', '-i', `sine=d=${String(run.inputs['audio'])}`, ...tags]
    await once(start(ffmpeg.path, ['-v', 'error', '-y', ...sound, named.path]), 'close')
    return { values: [], ui: { audio: [named.file] } }
  },
  PreviewAny: async ({ inputs }) => ({ values: [], ui: { text: [String(inputs['source'])] } }),
  ImageScaleBy: async (run) => {
    const pictures = picturesOf(run, 'image')
    const by = numberOf(run, 'scale_by')
    return one(
      await resize(pictures, Math.round(pictures.width * by), Math.round(pictures.height * by)),
    )
  },
  ImageBlur: async (run) => {
    const sigma = Math.max(0.3, (numberOf(run, 'blur_radius') * numberOf(run, 'sigma')) / 6)
    return one(await mapFrames(picturesOf(run, 'image'), (image) => image.blur(sigma)))
  },
  ImageSharpen: async (run) => {
    if (numberOf(run, 'alpha') === 0) return one(run.inputs['image'])
    return one(await mapFrames(picturesOf(run, 'image'), (image) => image.sharpen({ sigma: 0.7 })))
  },
  ImageBlend: async (run) => {
    const below = picturesOf(run, 'image1')
    const above = await resize(picturesOf(run, 'image2'), below.width, below.height)
    return one(blend(below, above, run))
  },
  ImageBatch: async (run) => {
    const first = picturesOf(run, 'image1')
    const second = await resize(picturesOf(run, 'image2'), first.width, first.height)
    return one({ ...first, frames: [...first.frames, ...second.frames] })
  },
  ImageFromBatch: async (run) => {
    const pictures = picturesOf(run, 'image')
    const start = Math.min(pictures.frames.length - 1, numberOf(run, 'batch_index'))
    return one({
      ...pictures,
      frames: pictures.frames.slice(start, start + numberOf(run, 'length')),
    })
  },
  RepeatImageBatch: async (run) => {
    const pictures = picturesOf(run, 'image')
    const times = Array.from({ length: numberOf(run, 'amount') })
    return one({ ...pictures, frames: times.flatMap(() => pictures.frames) })
  },
  ResizeImageMaskNode: async (run) => {
    const pictures = picturesOf(run, 'input')
    const { width, height } = pictures
    const of = (member: string): number => numberOf(run, `resize_type.${member}`)
    if (run.inputs['resize_type'] === 'scale dimensions')
      return one(await resize(pictures, of('width'), of('height')))
    const by =
      run.inputs['resize_type'] === 'scale longer dimension'
        ? of('longer_size') / Math.max(width, height)
        : of('multiplier')
    return one(await resize(pictures, Math.round(width * by), Math.round(height * by)))
  },
  BatchImagesNode: async ({ inputs }) => {
    const grown = Object.keys(inputs).filter((name) => name.startsWith('images.'))
    const [first, ...others] = grown.map((name) => inputs[name] as Pictures)
    if (!first) throw new PythonError('TypeError', 'images is empty\n')
    const { width, height } = first
    const resized = await Promise.all(others.map((pictures) => resize(pictures, width, height)))
    return one({ ...first, frames: [first, ...resized].flatMap(({ frames }) => frames) })
  },
  PrimitiveInt: passValue,
  PrimitiveFloat: passValue,
  PrimitiveString: passValue,
  PrimitiveStringMultiline: passValue,
  LoadVideo: async ({ inputs, folders }) => one(folders.findAnnotated(String(inputs['file']))),
  GetVideoComponents: async (run) => {
    const { inputs } = run
    const video =
      typeof inputs['video'] === 'string' ? await readVideo(inputs['video'], run) : inputs['video']
    return { values: [video, undefined, (video as Video).fps] }
  },
  CreateVideo: async (run) => one({ ...picturesOf(run, 'images'), fps: numberOf(run, 'fps') }),
  SaveVideo: async (run) => {
    const { inputs, folders } = run
    const video =
      typeof inputs['video'] === 'string' ? await readVideo(inputs['video'], run) : inputs['video']
    const named = await folders.nameOutputs(String(inputs['filename_prefix']), {
      type: 'output',
      extension: 'mp4',
      count: 1,
    })
    for (const { path } of named) await writeVideo(path, video as Video, run)
    return { values: [], ui: { images: named.map(({ file }) => file), animated: [true] } }
  },
  UpscaleModelLoader: async ({ inputs }) => one(inputs['model_name']),
  ImageUpscaleWithModel: async (run) => {
    const pictures = picturesOf(run, 'image')
    run.step(1, 1)
    return one(await resize(pictures, pictures.width * 2, pictures.height * 2))
  },
  KilnFault: async (run) => {
    const mode = String(run.inputs['mode'])
    const ms = numberOf(run, 'seconds') * 1000
    if (mode === 'raise') throw PYTHON_ERRORS.raise
    if (mode === 'oom') throw PYTHON_ERRORS.oom
    if (mode === 'oom_cpu') throw PYTHON_ERRORS.oom_cpu
    if (mode === 'sleep') await run.sleep(ms)
    if (mode === 'steps') {
      const steps = Math.max(1, Math.floor(ms / 250))
      for (let index = 1; index <= steps; index += 1) {
        await run.sleep(250)
        run.step(index, steps)
      }
    }
    if (mode === 'exit_thread') await run.die('thread')
    if (mode === 'kill' || mode === 'segv') await run.die('process')
    return one(run.inputs['image'])
  },
}

/** Exceptions by the name of the fault that raises them: three ways to be out of memory, a text that no database takes, and others of the field. */
export const PYTHON_ERRORS = {
  raise: new PythonError('ValueError', 'kiln test fault\n'),
  oom: new PythonError(
    'torch.OutOfMemoryError',
    'CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of 23.64 GiB of which 1.00 GiB is free.\n' +
      'This error means you ran out of memory on your GPU.\n\nTIPS: If the workflow worked before you might have accidentally set the batch_size to a large number.',
  ),
  oom_cpu: new PythonError(
    'RuntimeError',
    "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 4503599627370496 bytes. Error code 12 (Cannot allocate memory)\n",
  ),
  oom_numpy: new PythonError(
    'numpy._core._exceptions._ArrayMemoryError',
    'Unable to allocate 3.00 GiB for an array with shape (1, 16384, 16384, 3) and data type float32\n',
  ),
  cuda: new PythonError(
    'RuntimeError',
    'CUDA error: an illegal memory access was encountered\nCUDA kernel errors might be asynchronously reported at some other API call.\n',
  ),
  // NUL, half of a character, and a message that is cut within one.
  unstorable: new PythonError('ValueError', `bad \0 and \ud800 ${'😀'.repeat(400)}`),
  model: new PythonError(
    'FileNotFoundError',
    "Model in folder 'upscale_models' with filename 'kiln-tiny-x2.safetensors' not found.\n",
  ),
}

const randomLetters = (): string =>
  Array.from({ length: 5 }, () => String.fromCodePoint(97 + Math.floor(Math.random() * 26))).join(
    '',
  )

/** Beginnings of files that are known as pictures although they are damaged: PNG, JPEG, WebP. */
const KNOWN = /^(\u0089PNG|\u00ff\u00d8\u00ff|RIFF)/

/** A PNG or JPEG whose end is missing is loaded as far as it goes. */
const readPicture = async (path: string): Promise<Pictures> => {
  try {
    return await decode(path, 'warning')
  } catch {
    const start = (await readFile(path)).toString('latin1', 0, 4)
    if (!KNOWN.test(start))
      throw new PythonError('PIL.UnidentifiedImageError', `cannot identify image file '${path}'\n`)
    if (start === 'RIFF') throw new PythonError('OSError', 'could not create decoder object\n')
    return await decode(path, 'none').catch(() => {
      throw new PythonError('OSError', 'Truncated File Read\n')
    })
  }
}

const decode = async (path: string, failOn: 'none' | 'warning'): Promise<Pictures> => {
  const { data, info } = await sharp(path, { failOn })
    .rotate()
    .removeAlpha()
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true })
  return { width: info.width, height: info.height, frames: [data] }
}

const mapFrames = async (
  { width, height, frames }: Pictures,
  change: (image: Sharp) => Sharp,
): Promise<Pictures> => {
  const raw = { width, height, channels: 3 as const }
  const changed = await Promise.all(
    frames.map(
      async (frame) =>
        await change(sharp(frame, { raw })).raw().toBuffer({ resolveWithObject: true }),
    ),
  )
  const info = changed[0]?.info ?? raw
  return { width: info.width, height: info.height, frames: changed.map(({ data }) => data) }
}

const resize = async (pictures: Pictures, width: number, height: number): Promise<Pictures> =>
  pictures.width === width && pictures.height === height
    ? pictures
    : await mapFrames(pictures, (image) => image.resize(width, height, { fit: 'fill' }))

const softLight = (a: number, b: number): number =>
  b <= 0.5
    ? a - (1 - 2 * b) * a * (1 - a)
    : a + (2 * b - 1) * ((a <= 0.25 ? dark(a) : Math.sqrt(a)) - a)

const dark = (a: number): number => ((16 * a - 12) * a + 4) * a

const BLENDS: Readonly<Record<string, (a: number, b: number) => number>> = {
  normal: (_, b) => b,
  multiply: (a, b) => a * b,
  screen: (a, b) => 1 - (1 - a) * (1 - b),
  overlay: (a, b) => (a <= 0.5 ? 2 * a * b : 1 - 2 * (1 - a) * (1 - b)),
  soft_light: softLight,
  difference: (a, b) => a - b,
}

const blend = (below: Pictures, above: Pictures, run: NodeRun): Pictures => {
  const mode = BLENDS[String(run.inputs['blend_mode'])] ?? softLight
  const factor = numberOf(run, 'blend_factor')
  const frames = below.frames.map((frame, index) => {
    const other = above.frames[index % above.frames.length] ?? frame
    return Buffer.from(
      frame.map((value, at) => {
        const mixed = mode(value / 255, (other[at] ?? 0) / 255) * 255
        return Math.min(255, Math.max(0, value * (1 - factor) + mixed * factor))
      }),
    )
  })
  return { ...below, frames }
}

const savePictures = async (
  run: NodeRun,
  type: 'output' | 'temp',
  prefix: string,
): Promise<NodeResult> => {
  const { width, height, frames } = picturesOf(run, 'images')
  const count = frames.length
  const named = await run.folders.nameOutputs(prefix, { type, extension: 'png', count })
  for (const [index, { path }] of named.entries()) {
    const raw = { width, height, channels: 3 as const }
    const png = await sharp(frames[index], { raw }).png({ compressionLevel: 4 }).toBuffer()
    await writeFile(
      path,
      run.metadata ? withText(png, 'prompt', JSON.stringify(run.metadata)) : png,
    )
  }
  return { values: [], ui: { images: named.map(({ file }) => file) } }
}

const saveAnimation = async (run: NodeRun, extension: 'webp' | 'png'): Promise<NodeResult> => {
  const { width, height, frames } = picturesOf(run, 'images')
  const raw = { width, height, channels: 3 as const }
  const pngs = await Promise.all(frames.map((frame) => sharp(frame, { raw }).png().toBuffer()))
  const prefix = String(run.inputs['filename_prefix'])
  const [named] = await run.folders.nameOutputs(prefix, { type: 'output', extension, count: 1 })
  if (!named) return { values: [] }
  const ms = 1000 / numberOf(run, 'fps')
  const text = run.metadata ? JSON.stringify(run.metadata) : ''
  await writeFile(named.path, await animate(pngs, { extension, ms, text }))
  return { values: [], ui: { images: [named.file], animated: [frames.length > 1] } }
}

interface Animation {
  extension: 'webp' | 'png' | 'gif'
  /** Time of a frame. */
  ms: number
  /** Metadata. */
  text: string
}

/** Makes an animation of pictures of one size, which are PNGs. */
export const animate = async (
  pngs: Buffer[],
  { extension, ms, text }: Animation,
): Promise<Buffer> => {
  if (extension === 'png') return animatePng(pngs, { ms, text })
  const given = pngs.length > 1 ? sharp(pngs, { join: { animated: true } }) : sharp(pngs[0])
  const joined = given.withExif({ IFD0: { Make: text } })
  const delay = pngs.map(() => Math.round(ms))
  return await (extension === 'gif' ? joined.gif({ delay }) : joined.webp({ delay })).toBuffer()
}

/** Puts the pixels of PNGs behind each other, as frames of the first one. */
const animatePng = (pngs: Buffer[], { ms, text }: Omit<Animation, 'extension'>): Buffer => {
  const [first = Buffer.alloc(0)] = pngs
  let sequence = 0
  const frames = pngs.flatMap((png, index) => {
    const control = Buffer.alloc(26)
    control.writeUInt32BE(sequence++, 0)
    first.copy(control, 4, 16, 24)
    control.writeUInt16BE(Math.round(ms), 20)
    control.writeUInt16BE(1000, 22)
    const pixels = Buffer.concat(
      listChunks(png).flatMap(({ type, data }) => (type === 'IDAT' ? data : [])),
    )
    const number = Buffer.alloc(4)
    if (index > 0) number.writeUInt32BE(sequence++)
    return [
      chunk('fcTL', control),
      index === 0 ? chunk('IDAT', pixels) : chunk('fdAT', Buffer.concat([number, pixels])),
    ]
  })
  const count = Buffer.alloc(8)
  count.writeUInt32BE(pngs.length)
  const parts = [first.subarray(0, PNG_HEADER), chunk('acTL', count), ...frames]
  const png = Buffer.concat([...parts, chunk('IEND', Buffer.alloc(0))])
  return text === '' ? png : withText(png, 'prompt', text)
}

const listChunks = (png: Buffer): { type: string; data: Buffer }[] => {
  const chunks: { type: string; data: Buffer }[] = []
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    const data = png.subarray(at + 8, at + 8 + png.readUInt32BE(at))
    chunks.push({ type: png.toString('latin1', at + 4, at + 8), data })
  }
  return chunks
}

const chunk = (type: string, data: Buffer): Buffer => {
  const made = Buffer.alloc(data.length + 12)
  made.writeUInt32BE(data.length)
  made.write(type, 4, 'latin1')
  data.copy(made, 8)
  made.writeInt32BE(CRC32.buf(made.subarray(4, data.length + 8)), data.length + 8)
  return made
}

/** Length of the signature and the header of a PNG, behind which other chunks may stand. */
const PNG_HEADER = 33

const withText = (png: Buffer, keyword: string, text: string): Buffer => {
  const data = Buffer.from(`${keyword}\0${text}`, 'latin1')
  return Buffer.concat([png.subarray(0, PNG_HEADER), chunk('tEXt', data), png.subarray(PNG_HEADER)])
}

interface Probed {
  streams: { codec_type: string; width: number; height: number; r_frame_rate: string }[]
}

const readVideo = async (path: string, run: NodeRun): Promise<Video> => {
  const { ffmpeg, ffprobe } = await run.binaries()
  const probe = start(ffprobe.path, ['-v', 'error', '-of', 'json', '-show_streams', path])
  const { streams = [] } = (await json(probe.stdout)) as Partial<Probed>
  const stream = streams.find(({ codec_type }) => codec_type === 'video')
  if (!stream)
    throw new PythonError(
      'av.error.InvalidDataError',
      `[Errno 1094995529] Invalid data found when processing input: '${path}'\n`,
    )
  const { width, height, r_frame_rate } = stream
  const raw = ['-f', 'rawvideo', '-pix_fmt', 'rgb24']
  const decoded = await buffer(start(ffmpeg.path, ['-v', 'error', '-i', path, ...raw, '-']).stdout)
  const size = width * height * 3
  const frames = Array.from({ length: Math.floor(decoded.length / size) }, (_, index) =>
    decoded.subarray(index * size, (index + 1) * size),
  )
  const [numerator = 24, denominator = 1] = r_frame_rate.split('/').map(Number)
  return { width, height, frames, fps: numerator / denominator }
}

const writeVideo = async (
  path: string,
  { width, height, frames, fps }: Video,
  { metadata, binaries }: NodeRun,
): Promise<void> => {
  const { ffmpeg } = await binaries()
  const input = ['-f', 'rawvideo', '-pix_fmt', 'rgb24', '-s', `${width}x${height}`, '-r', `${fps}`]
  const codec = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p']
  const tags = metadata ? ['-metadata', `prompt=${JSON.stringify(metadata)}`] : []
  const flags = ['-movflags', 'use_metadata_tags']
  const child = start(ffmpeg.path, [
    '-v',
    'error',
    '-y',
    ...input,
    '-i',
    '-',
    ...codec,
    ...tags,
    ...flags,
    path,
  ])
  const ended = once(child, 'close')
  child.stdin.on('error', () => {})
  for (const frame of frames)
    if (!child.stdin.write(frame)) await Promise.race([once(child.stdin, 'drain'), ended])
  child.stdin.end()
  const [code] = (await ended) as [number | null]
  if (code !== 0)
    throw new PythonError('av.error.ExternalError', 'Generic error in an external library\n')
}

const start = (program: string, args: string[]) =>
  spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'] })
