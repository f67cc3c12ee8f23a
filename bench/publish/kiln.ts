import type { Service } from '../../test/support/service.ts'
import { listenForEnds } from '../support/ends.ts'
import type { PublishOnce, Target } from './target.ts'

const ACTIVE = 'NodeVersionStatusActive'

/**
 * Publishes as a client does: POST, PUT of the archive to the link, GET that shows the version Active. When to ask is
 * heard from the database.
 */
export const makeKilnPublish = async (
  { baseUrl, database: { sql } }: Service,
  { publisherId, token }: Target,
): Promise<{ publishOnce: PublishOnce; stop(): Promise<void> }> => {
  const settled = await listenForEnds(sql, {
    table: 'version',
    when: `old.status = 'NodeVersionStatusPending' and new.status <> old.status`,
  })
  const publishOnce: PublishOnce = async (archive, { nodeId, version }) => {
    const made = await send(`${baseUrl}/publishers/${publisherId}/nodes/${nodeId}/versions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        personal_access_token: token,
        node: { id: nodeId },
        node_version: { version },
      }),
    })
    const { node_version, signedUrl } = made as { node_version: { id: string }; signedUrl: string }
    const { id } = node_version
    await send(signedUrl, { method: 'PUT', body: archive.bytes })
    const status = await settled.of(id)
    const shown = (await send(`${baseUrl}/nodes/${nodeId}/versions/${version}`, {})) as {
      status: string
    }
    if (shown.status !== ACTIVE) throw new Error(`the version is ${shown.status} (${status})`)
  }
  return { publishOnce, stop: () => settled.stop() }
}

const send = async (url: string, init: RequestInit): Promise<unknown> => {
  const answer = await fetch(url, init)
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${url} is answered ${answer.status}: ${text}`)
  return JSON.parse(text) as unknown
}
