import { describeNode, PREFIX } from './graph.ts'
import type { Graph, GraphNode } from './graph.ts'

/** Mark of a node whose files are results. */
export const RESULT = 'result'

/** A node whose files are results of a task. */
export interface Result {
  node: string
  /** Name of its file, without the ending; absent: the files are counted. */
  name?: string
}

/** Media that the output nodes of ComfyUI, and those that many have beside them, make; others may make any. */
const MEDIA: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    'a picture': 'SaveImage PreviewImage MaskPreview',
    'an animation': 'SaveAnimatedWEBP SaveAnimatedPNG',
    'a video': 'SaveVideo SaveWEBM VHS_VideoCombine',
    'a sound': 'SaveAudio SaveAudioMP3 SaveAudioOpus PreviewAudio',
    'a text': 'PreviewAny ShowText|pysssss',
    'nothing that can be a result':
      'SaveLatent SaveGLB Preview3D Preview3DAnimation SaveSVGNode SaveLoRA LoraSave CheckpointSave CLIPSave VAESave ModelSave SaveImageWebsocket',
  }).flatMap(([media, classes]) => classes.split(' ').map((name) => [name, media])),
)

/** Media that results of a family of kinds may have. */
const TAKEN = {
  image: ['a picture', 'an animation'],
  video: ['a video', 'an animation'],
  custom: ['a picture', 'an animation', 'a video', 'a sound', 'a text'],
} as const

interface Rules {
  family: keyof typeof TAKEN
  report(issue: string): void
}

/** Without a hyphen: that stands before the number of a second file of a node. */
const NAME = /^(?!(result|thumbnail)$)[a-z0-9_]{1,60}$/

/**
 * Finds the nodes whose files are the results, in the order of their ids: those that are marked, else the only one that
 * saves something.
 * @param given marks of titles, with what stands behind `=`
 */
export const findResults = (
  graph: Graph,
  given: readonly { name: string; id: string; input: string | undefined }[],
  { family, report }: Rules,
): Result[] => {
  const marked = given
    .filter(({ name }) => name === RESULT)
    .map(({ id, input: name }) => ({ node: id, ...(name !== undefined && { name }) }))
  const saving = Object.keys(graph).filter((id) => graph[id] && isOutput(graph[id]))
  const results: Result[] = marked.length > 0 ? marked : saving.map((node) => ({ node }))
  if (results.length === 0) report('no node saves anything: add Save Image or Save Video')
  const listed = saving.map((id) => `${id} (${graph[id]?.class_type})`)
  if (marked.length === 0 && saving.length > 1)
    report(`nodes ${listed.join(', ')} save something: title one of them kiln:result`)
  for (const { node: id, name } of results) {
    const node = graph[id] as GraphNode
    const reject = (issue: string): void => report(`${describeNode(id, node)}: ${issue}`)
    const media = MEDIA[node.class_type]
    const taken: readonly string[] = TAKEN[family]
    if (media !== undefined && !taken.includes(media))
      reject(`${node.class_type} makes ${media}; a result here is ${taken.join(' or ')}`)
    if (name === undefined) continue
    if (family === 'video') reject('files of this kind have names of their own: kiln:result')
    else if (!NAME.test(name))
      reject(`a result is called by small letters, digits and _, and not result, got ${name}`)
    else if (results.some((other) => other.name === name && other.node !== id))
      reject(`another result is called ${name}`)
  }
  return results
}

const isOutput = ({ class_type, inputs }: GraphNode): boolean =>
  /^(Save|Preview)/.test(class_type) || class_type in MEDIA || inputs[PREFIX] !== undefined
