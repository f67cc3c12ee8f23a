import { deepEqual, equal, ok } from 'node:assert/strict'

import { unique } from './subject.ts'
import type { Check, Subject } from './subject.ts'

type Inputs = Record<string, [unknown, Record<string, unknown>?]>
type Info = Record<
  string,
  { input: { required: Inputs }; output: string[]; output_node: boolean; name: string }
>

/** True of versions whose nodes for videos and sizes have choices with inputs below them. */
const isPresent = ({ version }: Subject): boolean => Number(version.split('.')[1]) >= 38

export const ABILITY_CHECKS: readonly Check[] = [
  {
    title: 'describes no class that is not installed, and says so with 200',
    async run(subject) {
      const { status, json } = await subject.get('/object_info/NoSuchNode')
      deepEqual([status, json], [200, {}])
    },
  },
  {
    title: 'lists the choices of old classes in place of the type, of new ones as options',
    async run(subject) {
      const { json } = await subject.get<Info>('/object_info/ImageScaleBy')
      const { input, output, output_node } = json['ImageScaleBy'] ?? {}
      deepEqual(input?.required['upscale_method']?.[0], [
        'nearest-exact',
        'bilinear',
        'area',
        'bicubic',
        'lanczos',
      ])
      deepEqual(input?.required['scale_by'], [
        'FLOAT',
        { default: 1, min: 0.01, max: 8, step: 0.01 },
      ])
      deepEqual([output, output_node], [['IMAGE'], false])
      const { json: newer } = await subject.get<Info>('/object_info/ImageBlend')
      const mode = newer['ImageBlend']?.input.required['blend_mode']
      equal(mode?.[0], 'COMBO')
      const options = (mode?.[1]?.['options'] ?? []) as string[]
      ok(options.includes('soft_light'))
      const { json: saved } = await subject.get<Info>('/object_info/SaveVideo')
      equal(saved['SaveVideo']?.output_node, true)
    },
  },
  {
    title: 'gives each choice inputs of its own, which stand below it in a prompt',
    needs: isPresent,
    async run(subject) {
      const { json } = await subject.get<Info>('/object_info/ResizeImageMaskNode')
      const { input } = json['ResizeImageMaskNode'] ?? {}
      const [type, { options } = {}] = input?.required['resize_type'] ?? []
      equal(type, 'COMFY_DYNAMICCOMBO_V3')
      const choices = options as { key: string; inputs: { required: Inputs } }[]
      const scale = choices.find(({ key }) => key === 'scale by multiplier')
      const [number, { min, max } = {}] = scale?.inputs.required['multiplier'] ?? []
      deepEqual([number, min, max], ['FLOAT', 0.01, 8])
      const [growing, { template } = {}] =
        (await subject.get<Info>('/object_info/BatchImagesNode')).json['BatchImagesNode']?.input
          .required['images'] ?? []
      equal(growing, 'COMFY_AUTOGROW_V3')
      const { input: grown, prefix } = template as { input: { required: Inputs }; prefix: string }
      deepEqual([grown.required['image']?.[0], prefix], ['IMAGE', 'image'])
    },
  },
  {
    title: 'renders with what stands below a choice, and with an input that grows',
    needs: isPresent,
    async run(subject) {
      const { status, outputs } = await subject.run({
        1: { class_type: 'LoadImage', inputs: { image: subject.picture } },
        2: {
          class_type: 'ResizeImageMaskNode',
          inputs: {
            input: ['1', 0],
            resize_type: 'scale by multiplier',
            'resize_type.multiplier': 0.5,
            scale_method: 'area',
          },
        },
        3: {
          class_type: 'BatchImagesNode',
          inputs: { 'images.image0': ['1', 0], 'images.image1': ['2', 0] },
        },
        9: { class_type: 'SaveImage', inputs: { images: ['3', 0], filename_prefix: unique() } },
      })
      equal(status.status_str, 'success')
      equal((outputs['9'] as { images: unknown[] }).images.length, 2)
    },
  },
  {
    title: 'saves a video as 0.3.64 named its format and codec',
    needs: isPresent,
    async run(subject) {
      const { status } = await subject.run({
        1: { class_type: 'LoadImage', inputs: { image: subject.picture } },
        2: { class_type: 'RepeatImageBatch', inputs: { image: ['1', 0], amount: 4 } },
        3: { class_type: 'CreateVideo', inputs: { images: ['2', 0], fps: 4 } },
        9: {
          class_type: 'SaveVideo',
          inputs: { video: ['3', 0], filename_prefix: unique(), format: 'mp4', codec: 'h264' },
        },
      })
      equal(status.status_str, 'success')
    },
  },
  {
    title: 'describes each class of the templates with the same types and limits',
    async run(subject) {
      for (const [name, inputs] of Object.entries(LIMITS)) {
        const { json } = await subject.get<Info>(`/object_info/${name}`)
        for (const [input, [type, limits]] of Object.entries(inputs)) {
          const [found, options = {}] = json[name]?.input.required[input] ?? []
          equal(found, type, `${name}.${input}`)
          const { min, max } = options
          deepEqual(
            { ...(min !== undefined && { min }), ...(max !== undefined && { max }) },
            limits,
          )
        }
      }
    },
  },
  {
    title: 'describes all classes at once',
    async run(subject) {
      const { json } = await subject.get<Info>('/object_info')
      for (const name of Object.keys(LIMITS)) equal(json[name]?.name, name)
    },
  },
  {
    title: 'lists a file in its input folder among the choices, none of its subfolders',
    async run(subject) {
      const { json } = await subject.get<Info>('/object_info/LoadImage')
      const choices = json['LoadImage']?.input.required['image']?.[0] as string[]
      ok(choices.includes(subject.picture))
      ok(choices.every((name) => !name.includes('/')))
    },
  },
  {
    title: 'says its version, options, devices and memory',
    async run(subject) {
      const { json } = await subject.get<Stats>('/system_stats')
      const [device] = json.devices
      equal(json.system.comfyui_version, subject.version)
      ok(Array.isArray(json.system.argv))
      equal(typeof json.system.ram_total, 'number')
      equal(typeof device?.vram_total, 'number')
      equal(typeof device?.vram_free, 'number')
    },
  },
  {
    title: 'says how large a request may be',
    async run(subject) {
      const { json } = await subject.get<{ max_upload_size: number }>('/features')
      ok(json.max_upload_size > 0)
    },
  },
  {
    title: 'frees memory when it is asked to',
    async run(subject) {
      const body = { unload_models: true, free_memory: true }
      equal((await subject.post('/free', body)).status, 200)
    },
  },
  {
    title: 'serves its routes below /api, too',
    async run(subject) {
      deepEqual((await subject.get('/api/prompt')).json, (await subject.get('/prompt')).json)
    },
  },
]

interface Stats {
  system: { comfyui_version: string; argv: string[]; ram_total: number }
  devices: { vram_total: number; vram_free: number }[]
}

const LARGEST = 2 ** 63

const LIMITS: Record<string, Record<string, [string, { min?: number; max?: number }]>> = {
  ImageBlur: { blur_radius: ['INT', { min: 1, max: 31 }], sigma: ['FLOAT', { min: 0.1, max: 10 }] },
  ImageSharpen: {
    sharpen_radius: ['INT', { min: 1, max: 31 }],
    sigma: ['FLOAT', { min: 0.1, max: 10 }],
    alpha: ['FLOAT', { min: 0, max: 5 }],
  },
  ImageBlend: {
    image1: ['IMAGE', {}],
    blend_factor: ['FLOAT', { min: 0, max: 1 }],
    blend_mode: ['COMBO', {}],
  },
  ImageFromBatch: {
    length: ['INT', { min: 1, max: 4096 }],
  },
  RepeatImageBatch: { amount: ['INT', { min: 1, max: 4096 }] },
  ImageBatch: { image1: ['IMAGE', {}], image2: ['IMAGE', {}] },
  PrimitiveInt: { value: ['INT', { min: -LARGEST, max: LARGEST }] },
  PrimitiveFloat: { value: ['FLOAT', { min: -LARGEST, max: LARGEST }] },
  PrimitiveString: { value: ['STRING', {}] },
  PrimitiveStringMultiline: { value: ['STRING', {}] },
  CreateVideo: { images: ['IMAGE', {}], fps: ['FLOAT', { min: 1, max: 120 }] },
  LoadVideo: { file: ['COMBO', {}] },
  GetVideoComponents: { video: ['VIDEO', {}] },
  SaveVideo: { filename_prefix: ['STRING', {}] },
  SaveImage: { images: ['IMAGE', {}], filename_prefix: ['STRING', {}] },
  ImageUpscaleWithModel: { upscale_model: ['UPSCALE_MODEL', {}], image: ['IMAGE', {}] },
}
