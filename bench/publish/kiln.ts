import type { Service } from '../../test/support/service.ts'
import type { PublishOnce, Target } from './target.ts'

const ACTIVE = 'NodeVersionStatusActive'

/**
 * Publishes as a client does: POST, PUT of the archive to the link, GET that shows the version Active. When to ask is
 * heard from the database by a trigger of its own: a poll often enough to be exact would take time from what is measured.
 */
export const makeKilnPublish = async (
  { baseUrl, database: { sql } }: Service,
  { publisherId, token }: Target,
): Promise<{ publishOnce: PublishOnce; stop(): Promise<void> }> => {
  const settled = new Map<string, string>()
  const waiting = new Map<string, (status: string) => void>()
  await sql.unsafe(NOTIFY)
  const { unlisten } = await sql.listen('version_settled', (payload) => {
    const [id = '', status = ''] = payload.split(' ')
    settled.set(id, status)
    waiting.get(id)?.(status)
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
    const status = settled.get(id) ?? (await new Promise<string>((ok) => waiting.set(id, ok)))
    waiting.delete(id)
    settled.delete(id)
    const shown = (await send(`${baseUrl}/nodes/${nodeId}/versions/${version}`, {})) as {
      status: string
    }
    if (shown.status !== ACTIVE) throw new Error(`the version is ${shown.status} (${status})`)
  }
  return { publishOnce, stop: unlisten }
}

const send = async (url: string, init: RequestInit): Promise<unknown> => {
  const answer = await fetch(url, init)
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${url} is answered ${answer.status}: ${text}`)
  return JSON.parse(text) as unknown
}

const NOTIFY = `
  create function notify_of_version() returns trigger language plpgsql as $$
  begin
    perform pg_notify('version_settled', new.id || ' ' || new.status);
    return new;
  end $$;
  create trigger notify_of_version after update on version
    for each row when (old.status = 'NodeVersionStatusPending' and new.status <> old.status)
    execute function notify_of_version();
`
