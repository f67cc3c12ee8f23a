import { readSavedJson } from '../../../client/src/cli/read-saved.ts'
import { t } from '../words/translate.ts'
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
 * Reads the JSON that the host has saved, or the workflow in a picture or video that it has made.
 * @throws an Error whose message says what to do
 */
export const readSaved = async (given: File | Promise<File>): Promise<Saved> => {
  const file = await given
  if (file.size > FILE_MAX) throw new Error(t('{name} has more than 100 MiB.', { name: file.name }))
  const bytes = new Uint8Array(await file.arrayBuffer())
  const { name } = file
  const workflow = readSavedJson(bytes, name)
  const parts = readWorkflow(workflow)
  if (!parts)
    throw new Error(
      t(
        '{name} is no workflow. It has neither a list "nodes", as the host saves it, nor nodes by id with "class_type", as the host exports it for its API.',
        { name },
      ),
    )
  if (new Blob([JSON.stringify(workflow)]).size > BYTES_MAX)
    throw new Error(
      t('{name} is larger than 4 MiB. Take out pictures that are kept in it.', { name }),
    )
  return { name, key: Date.now(), workflow, parts }
}
