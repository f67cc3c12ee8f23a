import { randomUUID } from 'node:crypto'

import { IMAGE_API } from '../../test/support/client.ts'
import { base64 } from '../../test/support/pictures.ts'
import type { PictureOptions } from '../../test/support/pictures.ts'
import { answer } from '../../test/support/receiver.ts'
import type { WebhookReceiver } from '../../test/support/receiver.ts'
import type { Service } from '../../test/support/service.ts'
import { listenForEnds } from './ends.ts'

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

/** Creates tasks, and hears of their ends. */
export const startTaskClient = async ({
  baseUrl: first,
  database,
  token,
}: Service): Promise<TaskClient> => {
  const ends = await listenForEnds(database.sql, {
    table: 'task',
    when: 'old.ended_at is null and new.ended_at is not null',
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
      const end = await ends.of(id)
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
    stop: () => ends.stop(),
  }
}
