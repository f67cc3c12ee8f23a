import { pause } from '../../../client/lib/pause.ts'
import { MOST_MS, pauseAfter } from '../../../client/lib/retry.ts'
import { answerOf, api, isPassing, KilnError } from '../api/client.ts'
import { putFile } from '../api/upload.ts'
import type { Pack } from './pack.ts'

/** Five minutes, in which a service that is away is asked again. */
const PATIENCE = { attempts: 24, baseMs: 1000 }

/** Repeats what may succeed later: a killed api is back in seconds, and what was sent twice is done once. */
const patiently = async <T>(signal: AbortSignal, act: () => Promise<T>): Promise<T> => {
  for (let attempt = 1; ; attempt += 1)
    try {
      return await act()
    } catch (error) {
      signal.throwIfAborted()
      if (!isPassing(error) || attempt >= PATIENCE.attempts) throw error
      await pause(pauseAfter(PATIENCE, attempt, error) ?? MOST_MS, signal)
    }
}

/** What is done where it has been done already. */
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
  /** Told of each step, and of the part of the archive that has gone. */
  onStep(step: 'version' | 'archive', part?: number): void
}

/** Publishes a pack with a token for this publication alone, and sends its archive. Answers the version as it is stored. */
export const sendPack = async ({
  publisherId,
  pack,
  isNewNode,
  changelog,
  signal,
  onStep,
}: Sending): Promise<{ nodeId: string; version: string }> => {
  const { project, archive } = pack
  if (!project) throw new Error('a pack without a project')
  const { nodeId, node, version } = project
  const params = { path: { publisherId, nodeId } }
  const headers = () => ({ headers: { 'idempotency-key': crypto.randomUUID() }, signal })
  onStep('version')
  if (isNewNode) {
    const sent = headers()
    const body = { ...node, id: nodeId }
    const create = () =>
      api.POST('/publishers/{publisherId}/nodes', {
        params: { path: { publisherId } },
        body,
        ...sent,
      })
    await unless('node_exists', patiently(signal, create))
  }
  const asked = headers()
  const { token } = await patiently(signal, () =>
    answerOf(
      api.POST('/publishers/{publisherId}/nodes/{nodeId}/publish-tokens', { params, ...asked }),
    ),
  )
  const sent = headers()
  const body = {
    personal_access_token: token,
    node,
    node_version: { ...version, ...(changelog !== '' && { changelog }) },
  }
  const published = await patiently(signal, () =>
    answerOf(
      api.POST('/publishers/{publisherId}/nodes/{nodeId}/versions', { params, body, ...sent }),
    ),
  )
  const onProgress = (part: number): void => onStep('archive', part)
  onProgress(0)
  const put = () => putFile(published.signedUrl, archive, { onProgress, signal })
  // The answer to an upload that has arrived may be lost.
  await unless('archive_exists', patiently(signal, put))
  return { nodeId, version: published.node_version.version }
}
