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
  const settled = await listenForEnds(sql, {
    table: 'version',
    when: `old.status = 'NodeVersionStatusPending' and new.status <> old.status`,
  })
  const publishOnce: PublishOnce = async (archive, { nodeId, version }) => {
    const versions = `publishers/${publisherId}/nodes/${nodeId}/versions`
    const { node_version, signedUrl } = await callJson<{
      node_version: { id: string }
      signedUrl: string
    }>(`${baseUrl}/${versions}`, {
      body: { personal_access_token: token, node: { id: nodeId }, node_version: { version } },
    })
    await callJson(signedUrl, { method: 'PUT', body: archive })
    const status = await settled.of(node_version.id)
    const shown = await callJson<{ status: string }>(
      `${baseUrl}/nodes/${nodeId}/versions/${version}`,
    )
    if (shown.status !== ACTIVE) throw new Error(`the version is ${shown.status} (${status})`)
  }
  return { publishOnce, stop: () => settled.stop() }
}
