import { isObject } from '../../../platform/domain/is-object.ts'
import type { ModelFile } from '../../../tasks/domain/fleet.ts'
import type { Template } from './template.ts'

const MODEL = /\.(safetensors|sft|ckpt|pth?|bin|gguf|onnx)$/i

/** Folders of models below `models`, by the inputs that name them. */
const FOLDERS: Readonly<Record<string, string>> = {
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
}

/** Lists the model files that the graph of a template or its map names. */
export const listModels = ({ graph, marks, values, workflow }: Template): ModelFile[] => {
  const sources = workflow ? listSources(workflow) : []
  const models = Object.entries(graph).flatMap(([id, { class_type: type, inputs }]) =>
    Object.entries(inputs).flatMap(([input, value]) => {
      const marked = marks.filter((mark) => mark.node === id && mark.input === input)
      const mapped = marked.flatMap(({ name }) => Object.values(values[name] ?? {}))
      const folder = FOLDERS[`${type}.${input}`] ?? FOLDERS[input]
      return [value, ...mapped].flatMap((file) =>
        typeof file === 'string' && MODEL.test(file) ? [describeFile(file, folder, sources)] : [],
      )
    }),
  )
  const byFile = new Map(models.map((model) => [model.file, model]))
  return [...byFile.values()].toSorted((a, b) => (a.file < b.file ? -1 : 1))
}

/** Lists the models that the editor's form names, also in the nodes of its subgraphs. */
const listSources = (workflow: Record<string, unknown>): Record<string, unknown>[] => {
  const { definitions } = workflow
  const graphs = [workflow, ...listObjects(isObject(definitions) && definitions['subgraphs'])]
  return graphs.flatMap(({ models, nodes }) => [
    ...listObjects(models),
    ...listObjects(nodes).flatMap(({ properties }) =>
      listObjects(isObject(properties) && properties['models']),
    ),
  ])
}

const listObjects = (list: unknown) =>
  (Array.isArray(list) ? (list as unknown[]) : []).filter(isObject)

const describeFile = (
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
const basename = (file: string): string => file.replace(/^.*[\\/]/, '')

/** Says where on an instance a model belongs, and where it comes from; empty where neither is known. */
export const adviseModel = ({ folder, url, digest }: ModelFile): string => {
  const place = folder === undefined ? [] : [`put it into models/${folder}`]
  const advice = [
    ...place,
    ...(url === undefined ? [] : [`from ${url}`]),
    ...(digest === undefined ? [] : [digest]),
  ]
  return advice.length > 0 ? `: ${advice.join(', ')}` : ''
}
