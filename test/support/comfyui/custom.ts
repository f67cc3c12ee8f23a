import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

type Nodes = Record<string, readonly [type: string, inputs: object, title?: string]>

/** Writes nodes as ComfyUI exports them. */
export const makeGraph = (nodes: Nodes): string =>
  JSON.stringify(
    Object.fromEntries(
      Object.entries(nodes).map(([id, [class_type, inputs, title]]) => [
        id,
        { class_type, inputs, ...(title !== undefined && { _meta: { title } }) },
      ]),
    ),
  )

const LOAD = ['LoadImage', { image: 'in.png' }, 'kiln:image'] as const

/** A picture, softened and laid over itself: a field of each type. */
export const makePortrait = (nodes: Nodes = {}): string =>
  makeGraph({
    1: LOAD,
    2: [
      'ImageBlur',
      { image: ['1', 0], blur_radius: 6, sigma: 3 },
      'kiln:radius=blur_radius, softness/10=sigma',
    ],
    3: [
      'ImageBlend',
      { image1: ['1', 0], image2: ['2', 0], blend_factor: 0.55, blend_mode: 'soft_light' },
      'kiln:strength/100=blend_factor, mode=blend_mode',
    ],
    4: ['PrimitiveStringMultiline', { value: 'soft light' }, 'kiln:prompt'],
    5: ['PrimitiveInt', { value: 7 }, 'kiln:seed'],
    9: ['SaveImage', { images: ['3', 0], filename_prefix: 'kiln' }, 'kiln:result'],
    ...nodes,
  })

/** A still picture as a short video. */
export const FILM = makeGraph({
  1: LOAD,
  2: ['RepeatImageBatch', { image: ['1', 0], amount: 12 }, 'kiln:frames=amount'],
  3: ['CreateVideo', { images: ['2', 0], fps: 12 }],
  9: ['SaveVideo', { video: ['3', 0], filename_prefix: 'kiln', format: 'mp4', codec: 'h264' }],
})

/** A video, softened. */
export const CLIP = makeGraph({
  1: ['LoadVideo', { file: 'in.mp4' }, 'kiln:clip'],
  2: ['GetVideoComponents', { video: ['1', 0] }],
  3: ['CreateVideo', { images: ['2', 0], fps: 12 }, 'kiln:fps'],
  9: ['SaveVideo', { video: ['3', 0], filename_prefix: 'kiln', format: 'mp4', codec: 'h264' }],
})

/** A folder of templates whose kinds a test changes. */
export const makeTemplateFolder = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kiln-templates-'))
  const pathOf = (name: string): string => join(folder, 'custom', `${name}.json`)
  await mkdir(join(folder, 'custom'))
  return {
    folder,
    write: (name: string, text: string) => writeFile(pathOf(name), text),
    remove: (name: string) => rm(pathOf(name)),
    close: () => rm(folder, { recursive: true }),
  }
}
