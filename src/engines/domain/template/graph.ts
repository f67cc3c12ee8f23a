import { isObject } from '../../../platform/domain/is-object.ts'

/** A node of a workflow in ComfyUI's API format. A link to another node is an array. */
export interface GraphNode {
  class_type: string
  inputs: Record<string, unknown>
  title: string
}

/** The nodes of a workflow by their ids. */
export type Graph = Readonly<Record<string, GraphNode>>

/** Input in which a graph names the files that it writes. */
export const PREFIX = 'filename_prefix'

/** A whole number of a file that JavaScript would round. */
const UNSAFE = 'kiln:unsafe'

/** A literal as it stands in the file, when JavaScript would round it. */
export const unsafeOf = (value: unknown): string | undefined =>
  isObject(value) ? (value[UNSAFE] as string | undefined) : undefined

const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** Reads JSON with every whole number above 2^53 as an object that `unsafeOf` reads: seeds have 64 bits. */
const parse = (text: string): unknown =>
  JSON.parse(
    text.replaceAll(TOKENS, (token) =>
      /^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token))
        ? JSON.stringify({ [UNSAFE]: token })
        : token,
    ),
  )

const EXPORT = 'export it once more by Workflow > Export (API)'

/**
 * Reads the nodes of an exported workflow.
 * @throws Error that says what to do, without the name of the file
 */
export const readGraph = (text: string): Graph => {
  const value = parse(text)
  if (!isObject(value) || Object.keys(value).length === 0)
    throw new Error(`holds no nodes: ${EXPORT}`)
  if (Array.isArray(value['nodes'])) throw new Error(`is saved for the editor: ${EXPORT}`)
  return Object.fromEntries(
    Object.entries(value).map(([id, node]) => {
      if (!isObject(node) || typeof node['class_type'] !== 'string' || !isObject(node['inputs']))
        throw new Error(`node ${id} has no class_type and inputs: ${EXPORT}`)
      const { class_type, inputs, _meta: meta } = node
      const title = isObject(meta) && typeof meta['title'] === 'string' ? meta['title'] : class_type
      return [id, { class_type, inputs, title }]
    }),
  )
}

/** True of a value that stands in the graph, and is not the link to another node. */
export const isLiteral = (value: unknown): boolean => value !== undefined && !Array.isArray(value)

/** Names a node in a message. */
export const describeNode = (id: string, { title }: GraphNode): string => `node ${id} "${title}"`

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

/** Says where on an instance the model belongs that a node names; empty where the input names no model that is known. */
export const adviseModel = (
  { class_type: type }: GraphNode,
  input: string,
  value: unknown,
): string => {
  const folder = FOLDERS[`${type}.${input}`] ?? FOLDERS[input]
  if (folder === undefined || typeof value !== 'string' || !MODEL.test(value)) return ''
  return `: put it into models/${folder}`
}

/** Lists the files of models that a graph names. */
export const listModels = (graph: Graph): string[] => {
  const values = Object.values(graph).flatMap(({ inputs }) => Object.values(inputs))
  const models = values.filter((value) => typeof value === 'string' && MODEL.test(value))
  return [...new Set(models as string[])].toSorted()
}
