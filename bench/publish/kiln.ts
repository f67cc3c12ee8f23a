import type { Service } from '../../test/support/service.ts'
import { callJson } from '../support/call.ts'
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
  const decided = await listenForEnds(sql, {
    table: 'version',
    when: `old.status = 'NodeVersionStatusPending' and new.status <> old.status`,
  })
  const publishOnce: PublishOnce = async (archive, { nodeId, version }) => {
    const versions = `publishers/${publisherId}/nodes/${nodeId}/versions`
    const body = { personal_access_token: token, node: { id: nodeId }, node_version: { version } }
    type Made = { node_version: { id: string }; signedUrl: string }
    const made = await callJson<Made>(`${baseUrl}/${versions}`, { body })
    await callJson(made.signedUrl, { method: 'PUT', body: archive })
    const status = await decided.of(made.node_version.id)
    const url = `${baseUrl}/nodes/${nodeId}/versions/${version}`
    const shown = await callJson<{ status: string }>(url)
    if (shown.status !== ACTIVE) throw new Error(`the version is ${shown.status} (${status})`)
  }
  return { publishOnce, stop: () => decided.stop() }
}
