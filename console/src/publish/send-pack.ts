import { answerOf, KilnError, patientApi } from '../api/client.ts'
import { putFile } from '../api/upload.ts'
import type { Pack } from './pack.ts'

const NODES = '/publishers/{publisherId}/nodes'
const NODE = `${NODES}/{nodeId}` as const

/** What is done where it has been done already: the answer to it was lost. */
const unless = async (code: KilnError['code'], done: Promise<unknown>): Promise<void> => {
  await done.catch((error: unknown) => {
    if (!(error instanceof KilnError && error.code === code)) throw error
  })
}

interface Sending {
  publisherId: string
  pack: Pack
  isNewNode: boolean
  changelog: string
  signal: AbortSignal
  /** Told of the part of the archive that has gone, once the version is reserved. */
  onProgress(part: number): void
}

/** Publishes a pack with a token for this publication alone, and sends its archive. Answers the version as it is stored. */
export const sendPack = async ({
  publisherId,
  pack: { project, archive },
  isNewNode,
  changelog,
  signal,
  onProgress,
}: Sending): Promise<{ node: string; version: string }> => {
  if (!project) throw new Error('a pack without a project')
  const { nodeId, node, version } = project
  const { POST } = patientApi
  const at = { params: { path: { publisherId, nodeId } }, signal }
  if (isNewNode) await unless('node_exists', POST(NODES, { ...at, body: { ...node, id: nodeId } }))
  const { token } = await answerOf(POST(`${NODE}/publish-tokens`, at))
  const body = {
    personal_access_token: token,
    node,
    node_version: { ...version, ...(changelog !== '' && { changelog }) },
  }
  const published = await answerOf(POST(`${NODE}/versions`, { ...at, body }))
  onProgress(0)
  await unless('archive_exists', putFile(published.signedUrl, archive, { onProgress, signal }))
  return { node: nodeId, version: published.node_version.version }
}
