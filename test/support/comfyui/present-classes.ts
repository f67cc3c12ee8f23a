import type { InputSpec, NodeClass, NodeClasses } from './classes.ts'

/**
 * Classes of ComfyUI 0.38, as far as their interface differs from 0.3.64 or is new. Written by hand from its schemas in
 * Comfy-Org/ComfyUI: `comfy_extras/nodes_video.py` of commit 39b885fa, `nodes_post_processing.py` of 0c853489,
 * `nodes_images.py` of 015e6046, `nodes_math.py` of 3ca4e548, `nodes_logic.py` of 25699771, `nodes_upscale_model.py` of
 * 30a74432 and `nodes.py` of 02217e36; the forms of dynamic inputs are those of `comfy_api/latest/_io.py` of 04e2a914.
 */
export const makePresentClasses = (old: NodeClasses): NodeClasses => ({
  ...old,
  SaveImage: change(old['SaveImage'], { output: ['IMAGE'] }),
  ImageFromBatch: change(old['ImageFromBatch'], {
    required: {
      image: ['IMAGE', {}],
      batch_index: ['INT', { default: 0, min: -MAX_RESOLUTION, max: MAX_RESOLUTION }],
      length: ['INT', { default: 1, min: 1, max: 4096 }],
    },
  }),
  UpscaleModelLoader: change(old['UpscaleModelLoader'], {
    required: {
      model_name: ['COMBO', { multiselect: false, options: choicesOf(old['UpscaleModelLoader']) }],
    },
  }),
  LoadVideo: change(old['LoadVideo'], {
    optional: {
      edit: [
        'VIDEO_EDIT',
        {
          default: {
            trim: { start_time: 0, duration: 0 },
            crop: { x: 0, y: 0, width: 0, height: 0 },
          },
          socketless: true,
          features: ['trim', 'crop'],
        },
      ],
    },
  }),
  GetVideoComponents: change(old['GetVideoComponents'], {
    output: ['IMAGE', 'AUDIO', 'FLOAT', 'COMBO', 'COMBO'],
  }),
  CreateVideo: change(old['CreateVideo'], {
    optional: {
      audio: ['AUDIO', {}],
      bit_depth: ['COMBO', { default: 'auto', multiselect: false, options: ['auto', 8, 10] }],
      color_space: [
        'COMBO',
        { default: 'sRGB', multiselect: false, options: ['sRGB', 'HDR', 'HDR PQ'] },
      ],
      codec: [
        'COMBO',
        { default: 'none', multiselect: false, options: ['none', 'auto', 'h264', 'av1'] },
      ],
    },
  }),
  SaveVideo: change(old['SaveVideo'], {
    required: {
      video: ['VIDEO', {}],
      filename_prefix: ['STRING', { default: 'video/ComfyUI', multiline: false }],
      format: combo({
        auto: { codec: CODEC },
        mp4: { codec: CODEC },
        mkv: { codec: CODEC },
        webm: { codec: combo({ auto: {}, av1: encode(63, 30) }) },
      }),
    },
    optional: { codec: CODEC },
    output: ['VIDEO'],
  }),
  ResizeImageMaskNode: {
    required: {
      input: [
        'COMFY_MATCHTYPE_V3',
        { template: { template_id: 'input_type', allowed_types: 'IMAGE,MASK' } },
      ],
      resize_type: combo({
        'scale dimensions': { width: SIDE, height: SIDE, crop: CROP },
        'scale by multiplier': { multiplier: ['FLOAT', { default: 1, min: 0.01, max: 8 }] },
        'scale longer dimension': { longer_size: SIDE },
        'scale width': { width: ['INT', { default: 512, min: 0, max: MAX_RESOLUTION }] },
        'scale total pixels': {
          megapixels: ['FLOAT', { default: 1, min: 0.01, max: 16 }],
          multiple: ['INT', { default: 1, min: 1, max: MAX_RESOLUTION }],
        },
        'match size': { match: ['IMAGE,MASK', {}], crop: CROP },
      }),
      scale_method: [
        'COMBO',
        {
          default: 'area',
          multiselect: false,
          options: ['nearest-exact', 'bilinear', 'area', 'bicubic', 'lanczos'],
        },
      ],
    },
    output: ['COMFY_MATCHTYPE_V3'],
    category: 'image/transform',
    module: 'comfy_extras.nodes_post_processing',
  },
  BatchImagesNode: {
    required: {
      images: [
        'COMFY_AUTOGROW_V3',
        {
          template: {
            input: { required: { image: ['IMAGE', {}] } },
            prefix: 'image',
            min: 1,
            max: 50,
          },
        },
      ],
    },
    output: ['IMAGE'],
    category: 'image/batch',
    module: 'comfy_extras.nodes_post_processing',
  },
  ComfyMathExpression: {
    required: {
      expression: ['STRING', { default: 'a + b', multiline: true }],
      values: [
        'COMFY_AUTOGROW_V3',
        {
          template: {
            input: { required: {}, optional: { value: ['FLOAT,INT,BOOLEAN', {}] } },
            names: [...'abcdefghijklmnopqrstuvwxyz'],
            min: 1,
          },
        },
      ],
    },
    output: ['FLOAT', 'INT', 'BOOLEAN'],
    category: 'utilities',
    module: 'comfy_extras.nodes_math',
  },
  ComfySwitchNode: {
    required: { switch: ['BOOLEAN', {}] },
    optional: { on_false: SWITCHED, on_true: SWITCHED },
    output: ['COMFY_MATCHTYPE_V3'],
    category: 'utilities/logic',
    module: 'comfy_extras.nodes_logic',
  },
})

const MAX_RESOLUTION = 16_384

type Inputs = Readonly<Record<string, InputSpec>>

/** An input with inputs of its own below each choice; a graph may leave out names in `optional`. */
const combo = (choices: Readonly<Record<string, Inputs>>, optional: readonly string[] = []) =>
  [
    'COMFY_DYNAMICCOMBO_V3',
    {
      options: Object.entries(choices).map(([key, inputs]) => {
        const groups: Record<'required' | 'optional', Record<string, InputSpec>> = {
          required: {},
          optional: {},
        }
        for (const [name, spec] of Object.entries(inputs))
          groups[optional.includes(name) ? 'optional' : 'required'][name] = spec
        return { key, inputs: groups }
      }),
    },
  ] satisfies InputSpec

const encode = (max: number, preset: number): Inputs => ({
  encoding: combo({ auto: {}, 're-encode': { crf: ['FLOAT', { default: preset, min: 0, max }] } }),
})

const CODEC = combo({ auto: {}, h264: encode(51, 23), av1: encode(63, 30) }, ['encoding'])
const SIDE: InputSpec = ['INT', { default: 512, min: 0, max: MAX_RESOLUTION, step: 1 }]
const CROP: InputSpec = [
  'COMBO',
  { default: 'center', multiselect: false, options: ['disabled', 'center'] },
]
const SWITCHED: InputSpec = [
  'COMFY_MATCHTYPE_V3',
  { lazy: true, template: { template_id: 'switch', allowed_types: '*' } },
]

const change = (old: NodeClass | undefined, to: Partial<NodeClass>): NodeClass => {
  if (!old) throw new Error('there is no such class of 0.3.64')
  return { ...old, ...to }
}

const choicesOf = (old: NodeClass | undefined): readonly unknown[] => {
  const [[choices] = []] = Object.values(old?.required ?? {})
  return Array.isArray(choices) ? choices : []
}
