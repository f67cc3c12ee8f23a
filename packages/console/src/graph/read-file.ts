import { readWorkflow, type Part } from './read-workflow.ts'

/** A workflow that was dropped or chosen. */
export interface Saved {
  name: string
  /** Tells it from another of the same name. */
  key: number
  workflow: unknown
  parts: readonly Part[]
}

/** The service takes bodies of 4 MiB: some bytes are for what stands around the workflow. */
const BYTES_MAX = 4 * 2 ** 20 - 64 * 1024
/** A picture is larger than the workflow that it carries. */
const FILE_MAX = 100 * 2 ** 20

/**
 * Reads the JSON that the host has saved, or the workflow in a picture that it has made.
 * @throws an Error whose message says what to do
 */
export const readSaved = async (given: File | Promise<File>): Promise<Saved> => {
  const file = await given
  if (file.size > FILE_MAX) throw new Error(`${file.name} has more than 100 MiB.`)
  const bytes = new Uint8Array(await file.arrayBuffer())
  const text = isPng(bytes) ? findInPng(bytes) : new TextDecoder().decode(bytes)
  if (text === undefined)
    throw new Error(`${file.name} carries no workflow. Save the workflow from the host as JSON.`)
  const { name } = file
  const workflow = parse(text, name)
  const parts = readWorkflow(workflow)
  if (!parts)
    throw new Error(
      `${name} is no workflow. It has neither a list "nodes", as the host saves it, nor nodes by id with "class_type", as the host exports it for its API.`,
    )
  if (new Blob([JSON.stringify(workflow)]).size > BYTES_MAX)
    throw new Error(`${name} is larger than 4 MiB. Take out pictures that are kept in it.`)
  return { name, key: Date.now(), workflow, parts }
}

const parse = (text: string, name: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${name} is no JSON. Save the workflow from the host, or drop a picture of it.`)
  }
}

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

const isPng = (bytes: Uint8Array): boolean =>
  SIGNATURE.every((byte, index) => bytes[index] === byte)

/** The text of the keyword "workflow", or else "prompt", in the tEXt chunks of a PNG. */
const findInPng = (bytes: Uint8Array): string | undefined => {
  const texts = new Map<string, string>()
  const view = new DataView(bytes.buffer)
  for (let at = SIGNATURE.length; at + 8 <= bytes.length; at += view.getUint32(at) + 12) {
    const data = bytes.subarray(at + 8, at + 8 + view.getUint32(at))
    if (new TextDecoder().decode(bytes.subarray(at + 4, at + 8)) !== 'tEXt') continue
    const end = data.indexOf(0)
    const latin = new TextDecoder('latin1')
    texts.set(latin.decode(data.subarray(0, end)), latin.decode(data.subarray(end + 1)))
  }
  return texts.get('workflow') ?? texts.get('prompt')
}
