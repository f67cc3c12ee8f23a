import type { ModelFile } from './fleet.ts'

const MODEL = /\.(safetensors|sft|ckpt|pth?|bin|gguf|onnx)$/i

/** True for the name of a file with a model. */
export const isModel = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= TEXT_CHARACTERS && MODEL.test(value)

/** Folders of models below `models`, by the inputs that name them. */
const FOLDERS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'CLIPVisionLoader.clip_name': 'clip_vision',
    'UpscaleModelLoader.model_name': 'upscale_models',
    ckpt_name: 'checkpoints',
    clip_name: 'text_encoders',
    clip_name1: 'text_encoders',
    clip_name2: 'text_encoders',
    clip_name3: 'text_encoders',
    control_net_name: 'controlnet',
    gligen_name: 'gligen',
    hypernetwork_name: 'hypernetworks',
    lora_name: 'loras',
    style_model_name: 'style_models',
    unet_name: 'diffusion_models',
    vae_name: 'vae',
  }),
)

/** Finds the folder of the models that an input names. */
export const folderOf = (type: string, input: string): string | undefined =>
  [`${type}.${input}`, input]
    .map((name) => FOLDERS.get(name))
    .find((folder) => folder !== undefined)

/** Folders of models by the host's own loaders: the editor's form does not name their inputs. */
export const LOADERS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    AudioEncoderLoader: 'audio_encoders',
    CLIPLoader: 'text_encoders',
    CLIPVisionLoader: 'clip_vision',
    CheckpointLoader: 'checkpoints',
    CheckpointLoaderSimple: 'checkpoints',
    ControlNetLoader: 'controlnet',
    DiffControlNetLoader: 'controlnet',
    DualCLIPLoader: 'text_encoders',
    GLIGENLoader: 'gligen',
    HypernetworkLoader: 'hypernetworks',
    ImageOnlyCheckpointLoader: 'checkpoints',
    LoraLoader: 'loras',
    LoraLoaderModelOnly: 'loras',
    ModelPatchLoader: 'model_patches',
    PhotoMakerLoader: 'photomaker',
    QuadrupleCLIPLoader: 'text_encoders',
    StyleModelLoader: 'style_models',
    TripleCLIPLoader: 'text_encoders',
    UNETLoader: 'diffusion_models',
    UpscaleModelLoader: 'upscale_models',
    VAELoader: 'vae',
    unCLIPCheckpointLoader: 'checkpoints',
  }),
)

/** Describes a file with what the editor's form says of it, which is found by its name. */
export const describeModel = (
  file: string,
  known: string | undefined,
  sources: readonly Record<string, unknown>[],
): ModelFile => {
  const {
    url: address,
    hash,
    hash_type: type,
    directory,
  } = sources.find(({ name }) => name === basename(file)) ?? {}
  const folder = isText(directory, /^[\w./ -]+$/) ? directory : known
  const url = isText(address, /^https?:/) && URL.canParse(address) ? new URL(address) : undefined
  // An address that somebody copied may have a key in it.
  if (url) [url.username, url.password] = ['', '']
  url?.searchParams.delete('token')
  return {
    file,
    ...(folder !== undefined && { folder }),
    ...(url && { url: url.href }),
    ...(isText(hash, /^[0-9a-f]+$/i) && {
      digest: `${isText(type, /^\w+$/) ? type.toLowerCase() : 'sha256'}:${hash}`,
    }),
  }
}

const TEXT_CHARACTERS = 1000

const isText = (value: unknown, form: RegExp): value is string =>
  typeof value === 'string' && value.length <= TEXT_CHARACTERS && form.test(value)

/** Name of a model without its folders, on whatever machine it was chosen. */
export const basename = (file: string): string => file.replace(/^.*[\\/]/, '')
