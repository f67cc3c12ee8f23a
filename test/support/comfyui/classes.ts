import type { Folders } from './folders.ts'
import { makePresentClasses } from './present-classes.ts'

/** Inputs as `/object_info` lists them: a type or a list of choices, and what limits the value. */
export type InputSpec = readonly [string | readonly string[], Limits?]

export interface Limits {
  default?: unknown
  min?: number
  max?: number
  step?: number
  display?: string
  options?: readonly unknown[]
  multiline?: boolean
  multiselect?: boolean
  image_upload?: boolean
  video_upload?: boolean
  features?: readonly string[]
  lazy?: boolean
  socketless?: boolean
  /** The input that one that grows, or is of the type of others, is made of. */
  template?: object
}

/** A class of nodes, as far as its interface goes. */
export interface NodeClass {
  required: Readonly<Record<string, InputSpec>>
  optional?: Readonly<Record<string, InputSpec>>
  output: readonly string[]
  /** Output nodes are what a prompt runs for. */
  isOutput?: boolean
  category: string
  module?: string
}

export type NodeClasses = Readonly<Record<string, NodeClass>>

interface ClassesOptions {
  version: string
  folders: Pick<Folders, 'listInputs'>
  /** File names of upscaling models. */
  models: readonly string[]
}

const METHODS = ['nearest-exact', 'bilinear', 'area', 'bicubic', 'lanczos']
const BLEND_MODES = ['normal', 'multiply', 'screen', 'overlay', 'soft_light', 'difference']
const FAULT_MODES = [
  'none',
  'raise',
  'oom',
  'oom_cpu',
  'sleep',
  'steps',
  'exit_thread',
  'kill',
  'segv',
]

/** Largest number that a primitive node takes: Python's `sys.maxsize`, rounded as JSON is here. */
const MAX_INT = 2 ** 63

/** Makes the classes of 0.3.64, or the present ones. */
export const makeClasses = async ({
  version,
  ...options
}: ClassesOptions): Promise<NodeClasses> => {
  const old = await makeOldClasses(options)
  return isPresent(version) ? makePresentClasses(old) : old
}

export const isPresent = (version: string): boolean => !version.startsWith('0.3.')

/** Names of files directly in the input folder are choices; those in its folders are not. */
const makeOldClasses = async ({
  folders,
  models,
}: Omit<ClassesOptions, 'version'>): Promise<NodeClasses> => {
  const inputs = await folders.listInputs()
  const images = inputs.filter((name) => /\.(avif|gif|jpe?g|png|webp)$/.test(name))
  const videos = inputs.filter((name) => /\.(m4v|mkv|mov|mp4|webm)$/.test(name))
  return {
    LoadImage: {
      required: { image: [images, { image_upload: true }] },
      output: ['IMAGE', 'MASK'],
      category: 'image',
    },
    SaveImage: {
      required: {
        images: ['IMAGE', {}],
        filename_prefix: ['STRING', { default: 'ComfyUI' }],
      },
      output: [],
      isOutput: true,
      category: 'image',
    },
    SaveAnimatedWEBP: {
      required: {
        images: ['IMAGE'],
        filename_prefix: ['STRING', { default: 'ComfyUI' }],
        fps: ['FLOAT', { default: 6, min: 0.01, max: 1000, step: 0.01 }],
        lossless: ['BOOLEAN', { default: true }],
        quality: ['INT', { default: 80, min: 0, max: 100 }],
        method: [['default', 'fastest', 'slowest']],
      },
      output: [],
      isOutput: true,
      category: 'image/animation',
      module: 'comfy_extras.nodes_images',
    },
    SaveAnimatedPNG: {
      required: {
        images: ['IMAGE'],
        filename_prefix: ['STRING', { default: 'ComfyUI' }],
        fps: ['FLOAT', { default: 6, min: 0.01, max: 1000, step: 0.01 }],
        compress_level: ['INT', { default: 4, min: 0, max: 9 }],
      },
      output: [],
      isOutput: true,
      category: 'image/animation',
      module: 'comfy_extras.nodes_images',
    },
    EmptyImage: {
      required: {
        width: ['INT', { default: 512, min: 1, max: 16_384, step: 1 }],
        height: ['INT', { default: 512, min: 1, max: 16_384, step: 1 }],
        batch_size: ['INT', { default: 1, min: 1, max: 4096 }],
        color: ['INT', { default: 0, min: 0, max: 0xff_ff_ff, step: 1, display: 'color' }],
      },
      output: ['IMAGE'],
      category: 'image',
    },
    EmptyAudio: {
      required: {
        duration: ['FLOAT', { default: 60, min: 0, step: 0.01 }],
        sample_rate: ['INT', { default: 44_100 }],
        channels: ['INT', { default: 2, min: 1, max: 2 }],
      },
      output: ['AUDIO'],
      category: 'audio',
      module: 'comfy_extras.nodes_audio',
    },
    SaveAudio: {
      required: { audio: ['AUDIO'], filename_prefix: ['STRING', { default: 'audio/ComfyUI' }] },
      output: [],
      isOutput: true,
      category: 'audio',
      module: 'comfy_extras.nodes_audio',
    },
    PreviewAny: {
      required: { source: ['*', {}] },
      output: [],
      isOutput: true,
      category: 'utils',
      module: 'comfy_extras.nodes_preview_any',
    },
    PreviewImage: {
      required: { images: ['IMAGE'] },
      output: [],
      isOutput: true,
      category: 'image',
    },
    ImageScaleBy: {
      required: {
        image: ['IMAGE'],
        upscale_method: [METHODS],
        scale_by: ['FLOAT', { default: 1, min: 0.01, max: 8, step: 0.01 }],
      },
      output: ['IMAGE'],
      category: 'image/upscaling',
    },
    ImageBlur: {
      required: {
        image: ['IMAGE', {}],
        blur_radius: ['INT', { default: 1, min: 1, max: 31, step: 1 }],
        sigma: ['FLOAT', { default: 1, min: 0.1, max: 10, step: 0.1 }],
      },
      output: ['IMAGE'],
      category: 'image/postprocessing',
      module: 'comfy_extras.nodes_post_processing',
    },
    ImageSharpen: {
      required: {
        image: ['IMAGE', {}],
        sharpen_radius: ['INT', { default: 1, min: 1, max: 31, step: 1 }],
        sigma: ['FLOAT', { default: 1, min: 0.1, max: 10, step: 0.01 }],
        alpha: ['FLOAT', { default: 1, min: 0, max: 5, step: 0.01 }],
      },
      output: ['IMAGE'],
      category: 'image/postprocessing',
      module: 'comfy_extras.nodes_post_processing',
    },
    ImageBlend: {
      required: {
        image1: ['IMAGE', {}],
        image2: ['IMAGE', {}],
        blend_factor: ['FLOAT', { default: 0.5, min: 0, max: 1, step: 0.01 }],
        blend_mode: ['COMBO', { options: BLEND_MODES }],
      },
      output: ['IMAGE'],
      category: 'image/postprocessing',
      module: 'comfy_extras.nodes_post_processing',
    },
    ImageBatch: {
      required: { image1: ['IMAGE'], image2: ['IMAGE'] },
      output: ['IMAGE'],
      category: 'image',
    },
    ImageFromBatch: {
      required: {
        image: ['IMAGE'],
        batch_index: ['INT', { default: 0, min: 0, max: 4095 }],
        length: ['INT', { default: 1, min: 1, max: 4096 }],
      },
      output: ['IMAGE'],
      category: 'image/batch',
      module: 'comfy_extras.nodes_images',
    },
    RepeatImageBatch: {
      required: { image: ['IMAGE'], amount: ['INT', { default: 1, min: 1, max: 4096 }] },
      output: ['IMAGE'],
      category: 'image/batch',
      module: 'comfy_extras.nodes_images',
    },
    PrimitiveInt: {
      required: { value: ['INT', { min: -MAX_INT, max: MAX_INT }] },
      output: ['INT'],
      category: 'utils/primitive',
      module: 'comfy_extras.nodes_primitive',
    },
    PrimitiveFloat: {
      required: { value: ['FLOAT', { min: -MAX_INT, max: MAX_INT }] },
      output: ['FLOAT'],
      category: 'utils/primitive',
      module: 'comfy_extras.nodes_primitive',
    },
    PrimitiveString: {
      required: { value: ['STRING', { multiline: false }] },
      output: ['STRING'],
      category: 'utils/primitive',
      module: 'comfy_extras.nodes_primitive',
    },
    PrimitiveStringMultiline: {
      required: { value: ['STRING', { multiline: true }] },
      output: ['STRING'],
      category: 'utils/primitive',
      module: 'comfy_extras.nodes_primitive',
    },
    LoadVideo: {
      required: { file: ['COMBO', { options: videos, video_upload: true }] },
      output: ['VIDEO'],
      category: 'image/video',
      module: 'comfy_extras.nodes_video',
    },
    GetVideoComponents: {
      required: { video: ['VIDEO', {}] },
      output: ['IMAGE', 'AUDIO', 'FLOAT'],
      category: 'image/video',
      module: 'comfy_extras.nodes_video',
    },
    CreateVideo: {
      required: {
        images: ['IMAGE', {}],
        fps: ['FLOAT', { default: 30, min: 1, max: 120, step: 1 }],
      },
      optional: { audio: ['AUDIO', {}] },
      output: ['VIDEO'],
      category: 'image/video',
      module: 'comfy_extras.nodes_video',
    },
    SaveVideo: {
      required: {
        video: ['VIDEO', {}],
        filename_prefix: ['STRING', { default: 'video/ComfyUI', multiline: false }],
        format: ['COMBO', { default: 'auto', options: ['auto', 'mp4'] }],
        codec: ['COMBO', { default: 'auto', options: ['auto', 'h264'] }],
      },
      output: [],
      isOutput: true,
      category: 'image/video',
      module: 'comfy_extras.nodes_video',
    },
    UpscaleModelLoader: {
      required: { model_name: [models] },
      output: ['UPSCALE_MODEL'],
      category: 'loaders',
      module: 'comfy_extras.nodes_upscale_model',
    },
    ImageUpscaleWithModel: {
      required: { upscale_model: ['UPSCALE_MODEL'], image: ['IMAGE'] },
      output: ['IMAGE'],
      category: 'image/upscaling',
      module: 'comfy_extras.nodes_upscale_model',
    },
    // Fails as it is asked to: for tests, also against a real ComfyUI that has it.
    KilnFault: {
      required: {
        image: ['IMAGE'],
        mode: [FAULT_MODES],
        seconds: ['FLOAT', { default: 1, min: 0, max: 100_000 }],
      },
      output: ['IMAGE'],
      category: 'kiln',
      module: 'custom_nodes.kiln_faults',
    },
  }
}

/** A class as `/object_info` describes it. */
export const describeClass = (name: string, found: NodeClass) => ({
  input: {
    required: found.required,
    ...(found.optional && { optional: found.optional }),
    ...(found.isOutput && { hidden: { prompt: ['PROMPT'], extra_pnginfo: ['EXTRA_PNGINFO'] } }),
  },
  input_order: {
    required: Object.keys(found.required),
    ...(found.optional && { optional: Object.keys(found.optional) }),
  },
  output: found.output,
  output_is_list: found.output.map(() => false),
  output_name: found.output,
  name,
  display_name: name,
  description: '',
  python_module: found.module ?? 'nodes',
  category: found.category,
  output_node: found.isOutput ?? false,
})
