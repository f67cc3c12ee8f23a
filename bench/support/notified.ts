import { randomUUID } from 'node:crypto'

import { request } from 'undici'
import type { Agent } from 'undici'

import { signWebhook } from '../../src/events/adapters/webhook.ts'
import type { Sql } from '../../src/platform/db/client.ts'
import { makeNotifyChange } from '../../src/platform/db/change-notification.ts'
import { respond } from '../../test/support/receiver.ts'
import type { Turn, WebhookReceiver } from '../../test/support/receiver.ts'

/** Waits at a path of its own for the first request, or for the first that `isIt`. */
export const listenAt = (receiver: WebhookReceiver, isIt: (turn: Turn) => boolean = () => true) => {
  const key = randomUUID()
  const notified = new Promise<void>((resolve) =>
    receiver.script(`/${key}`, (turn) => {
      respond(204)(turn)
      if (isIt(turn)) resolve()
    }),
  )
  return { url: receiver.url(`/${key}`), notified }
}

/** Inserts a task as it is once it has ended, with its last event still to be delivered to an address. Returns its id. */
export const insertTaskWithWebhook = async (sql: Sql, url: string): Promise<string> => {
  const taskId = randomUUID()
  await sql`
    with ended as (
      insert into task (id, family, kind, segment, owner, status, settings, webhook_url, ended_at)
      values (${taskId}, 'image', 'upscale', 'image-upscaler', 'bench', 'COMPLETED', '{}', ${url},
        clock_timestamp())
      returning id
    )
    insert into event (task_id, sequence, status, deliver, state)
    select id, 1, 'COMPLETED', true, 'pending' from ended
  `
  return taskId
}

/** Has the service deliver the end of such a task; ends when the receiver has got it. */
export const makeDeliver = (sql: Sql): ((receiver: WebhookReceiver) => Promise<void>) => {
  const notifyChange = makeNotifyChange(sql)
  return async (receiver) => {
    const { url, notified } = listenAt(receiver)
    // As every process that makes a transition does.
    notifyChange(await insertTaskWithWebhook(sql, url))
    await notified
  }
}

/** Posts the end of a task as the service does, but from no row. Throws when it is not taken. */
export const postSigned = async (
  dispatcher: Agent,
  { url, taskId, status, secret }: Record<'url' | 'taskId' | 'status' | 'secret', string>,
): Promise<void> => {
  const body = Buffer.from(JSON.stringify({ task_id: taskId, status, generated: [] }))
  const timestamp = Math.floor(Date.now() / 1000)
  const signed = signWebhook({ id: taskId, timestamp, body, secrets: [secret] })
  const headers = { ...signed, 'content-type': 'application/json' }
  const respond = await request(url, { method: 'POST', headers, body, dispatcher })
  await respond.body.dump()
  if (respond.statusCode >= 300)
    throw new Error(`the receiver responded with ${respond.statusCode}`)
}
