import { isObject } from '../../../platform/domain/is-object.ts'
import { cut } from '../engine-reason.ts'
import type { Result } from './results.ts'

/** Why a run brought no result. What follows from each is in activities/comfyui. */
export type RunFailure =
  | 'out_of_memory'
  /** The processor of an instance is in a state that only a restart mends. */
  | 'broken'
  /** A class, model or input that the template needs is not there. */
  | 'unable'
  | 'input_missing'
  | 'interrupted'
  /** A value of ours is not what a node takes. */
  | 'rejected'
  | 'too_large'
  | 'failed'

/** The folder of a placement, below those for inputs and for outputs. */
export const folderOf = (placementId: string): string => `kiln/${placementId}`

export interface OutputFile {
  filename: string
  subfolder: string
  type: string
}

/** A file or a text that a node has made for a task. */
export type Output = { name?: string | undefined } & (OutputFile | { text: string })

export type RunEnd =
  | { outputs: Output[]; failure?: never }
  /** `detail` is for the log: node, class and the first words of the error, and no input. */
  | { failure: RunFailure; detail: string }

const MEMORY = /OutOfMemoryError$|MemoryError$/
const MEMORY_WORDS = /out of memory|can't allocate|unable to allocate/i
const BROKEN_WORDS = /CUDA error|illegal memory access|cudnn|NCCL/i

/**
 * Reads an entry of the history. Only `completed`, `execution_success` as the last message and outputs of each result's node
 * together are a success: each of them alone may be there without one.
 * @param id the placement's id, which stands in the paths of its files
 */
export const readRunEnd = (
  entry: Record<string, unknown>,
  { results, id }: { results: readonly Result[]; id: string },
): RunEnd => {
  const { status, messages } = readStatus(entry)
  const [last, facts] = messages.at(-1) ?? []
  const error = isObject(facts) ? facts : {}
  if (last === 'execution_error') return readError(error, id)
  if (last === 'execution_interrupted')
    return { failure: 'interrupted', detail: `interrupted at node ${text(error['node_id'])}` }
  if (status['completed'] !== true || last !== 'execution_success')
    return { failure: 'failed', detail: `ended as ${text(status['status_str'])}` }
  const made = results.map((result) => listOutputs(entry, result))
  const empty = results.find((_, index) => made[index]?.length === 0)
  if (empty) return { failure: 'failed', detail: `a success without a file of node ${empty.node}` }
  return { outputs: made.flat() }
}

/** Lists what a result's node has made. The second file of a name has a number behind it. */
const listOutputs = (entry: Record<string, unknown>, { node, name }: Result): Output[] => {
  const files = listFiles(entry, node)
  const { text: texts } = outputsOf(entry, node)
  const made =
    files.length > 0 || !Array.isArray(texts)
      ? files
      : texts.filter((one) => typeof one === 'string').map((one) => ({ text: one }))
  return made.map((output, index) =>
    name === undefined ? output : { ...output, name: index > 0 ? `${name}-${index + 1}` : name },
  )
}

const readStatus = (entry: Record<string, unknown>) => {
  const status = isObject(entry['status']) ? entry['status'] : {}
  const messages = Array.isArray(status['messages']) ? (status['messages'] as unknown[]) : []
  return { status, messages: messages.filter(Array.isArray) as unknown[][] }
}

/** Reads by the clock of the instance how long a prompt ran; undefined where its messages do not say so. */
export const readRunSeconds = (entry: Record<string, unknown>): number | undefined => {
  const times = readStatus(entry).messages.map(([, facts]) =>
    isObject(facts) ? Number(facts['timestamp']) : Number.NaN,
  )
  const seconds = ((times.at(-1) ?? Number.NaN) - (times[0] ?? Number.NaN)) / 1000
  return seconds >= 0 ? seconds : undefined
}

const readError = (error: Record<string, unknown>, id: string): RunEnd => {
  const [type, message] = [text(error['exception_type']), text(error['exception_message'])]
  const node = text(error['node_id'])
  const detail = `node ${node} ${text(error['node_type'])}: ${type}: ${message}`
  const failed = (failure: RunFailure) => ({
    failure,
    detail: cut(detail.replaceAll(/\s+/g, ' ')),
  })
  if (MEMORY.test(type) || MEMORY_WORDS.test(message)) return failed('out_of_memory')
  if (BROKEN_WORDS.test(message)) return failed('broken')
  if (type.endsWith('UnidentifiedImageError')) return failed('input_missing')
  if (type.endsWith('FileNotFoundError'))
    return failed(message.includes(id) ? 'input_missing' : 'unable')
  return failed('failed')
}

/** Lists the files of a node: videos stand among the images too, and nodes of others have lists of other names. */
const listFiles = (entry: Record<string, unknown>, node: string): OutputFile[] =>
  Object.values(outputsOf(entry, node))
    .filter(Array.isArray)
    .flat()
    .flatMap((file: unknown) =>
      isObject(file) && typeof file['filename'] === 'string'
        ? [
            {
              filename: file['filename'],
              subfolder: text(file['subfolder']),
              type: text(file['type']) || 'output',
            },
          ]
        : [],
    )

const outputsOf = (entry: Record<string, unknown>, node: string): Record<string, unknown> => {
  const outputs = isObject(entry['outputs']) ? entry['outputs'][node] : undefined
  return isObject(outputs) ? outputs : {}
}

/** Lists every file that a run has left, of whatever node. */
export const listLeftFiles = (entry: Record<string, unknown>): OutputFile[] =>
  Object.keys(isObject(entry['outputs']) ? entry['outputs'] : {}).flatMap((node) =>
    listFiles(entry, node),
  )

const ENDINGS = 'png jpg jpeg webp gif mp4 webm mov mkv flac mp3 opus'.split(' ')

/**
 * Lists the names that the files of one number have below the prefix of a placement. Nodes of ComfyUI put `_` behind
 * the number. Nodes of video packs put nothing, or `-audio` for a film with its sound. The counter goes on over all
 * nodes and endings.
 */
export const listGivenNames = (placementId: string, number: number): OutputFile[] =>
  ENDINGS.flatMap((ending) =>
    ['_', '', '-audio'].map((mark) => ({
      filename: `r_${String(number).padStart(5, '0')}${mark}.${ending}`,
      subfolder: folderOf(placementId),
      type: 'output',
    })),
  )

/** Reads a text or a number of a response; the empty text of anything else. */
export const text = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : ''
