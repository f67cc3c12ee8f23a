import { randomUUID } from 'node:crypto'

import { IMAGE_API } from '../../test/support/client.ts'
import { base64 } from '../../test/support/pictures.ts'
import type { PictureOptions } from '../../test/support/pictures.ts'
import { answer } from '../../test/support/receiver.ts'
import type { WebhookReceiver } from '../../test/support/receiver.ts'
import type { Service } from '../../test/support/service.ts'

/** A creation: whose it is, where it is posted, and the state that its task ends in. */
export interface TaskOrder {
  owner?: string
  /** Of another api than the first. */
  baseUrl?: string | undefined
  path: string
  body: object
  end: 'COMPLETED' | 'success'
}

/** An image task, small unless its picture is given. */
export const relight = async (picture?: PictureOptions): Promise<TaskOrder> => ({
  path: `${IMAGE_API}/image-relight`,
  body: { image: await base64(picture) },
  end: 'COMPLETED',
})

export interface TaskClient {
  /** Creates a task; ends when readers see its end. */
  run(order: TaskOrder): Promise<void>
  /** Ends when the receiver has heard of it. */
  runTold(order: TaskOrder, receiver: WebhookReceiver): Promise<void>
  stop(): Promise<void>
}

/**
 * Creates tasks, and hears of their ends from the database by a trigger of its own: a poll often enough to be exact would
 * take a quarter of a core from what is measured.
 */
export const startTaskClient = async ({
  baseUrl: first,
  database,
  token,
}: Service): Promise<TaskClient> => {
  const ends = new Map<string, string>()
  const waiting = new Map<string, (status: string) => void>()
  await database.sql.unsafe(NOTIFY_OF_ENDS)
  const { unlisten } = await database.sql.listen('task_ended', (payload) => {
    const [id = '', status = ''] = payload.split(' ')
    ends.set(id, status)
    waiting.get(id)?.(status)
  })
  const tokens = new Map<string, Promise<string>>()
  const create = async ({
    owner = 'bench',
    baseUrl = first,
    path,
    body,
  }: TaskOrder): Promise<string> => {
    const bearer = tokens.get(owner) ?? token(owner)
    tokens.set(owner, bearer)
    const headers = {
      authorization: `Bearer ${await bearer}`,
      'content-type': 'application/json',
    }
    const sent = { method: 'POST', headers, body: JSON.stringify(body) }
    const answered = await fetch(baseUrl + path, sent)
    if (answered.status !== 200) throw new Error(`creation answered ${answered.status}`)
    const made = (await answered.json()) as { task_id?: string; data?: { task_id: string } }
    return made.data?.task_id ?? made.task_id ?? ''
  }
  return {
    async run(order) {
      const id = await create(order)
      const end = ends.get(id) ?? (await new Promise<string>((resolve) => waiting.set(id, resolve)))
      waiting.delete(id)
      ends.delete(id)
      if (end !== order.end) throw new Error(`task ${id} is ${end}`)
    },
    async runTold(order, receiver) {
      const path = `/${randomUUID()}`
      const told = new Promise<void>((resolve) =>
        receiver.script(path, (turn) => {
          answer(204)(turn)
          if (turn.request.body.includes(`"${order.end}"`)) resolve()
        }),
      )
      const url = receiver.url(path)
      await create({ ...order, body: { ...order.body, webhook_url: url } })
      await told
    },
    stop: unlisten,
  }
}

const NOTIFY_OF_ENDS = `
  create function notify_of_end() returns trigger language plpgsql as $$
  begin
    perform pg_notify('task_ended', new.id || ' ' || new.status);
    return new;
  end $$;
  create trigger notify_of_end after update on task
    for each row when (old.ended_at is null and new.ended_at is not null)
    execute function notify_of_end();
`
