import { IMAGE_API } from '../../test/support/client.ts'
import { base64 } from '../../test/support/pictures.ts'
import type { PictureOptions } from '../../test/support/pictures.ts'
import type { WebhookReceiver } from '../../test/support/receiver.ts'
import type { Service } from '../../test/support/service.ts'
import { bearer, callJson } from './call.ts'
import { listenForEnds } from './ends.ts'
import { listenAt } from './notified.ts'

/** A creation: whose it is and where it is posted. */
interface Creation {
  owner?: string
  /** URL of another api process than the first. */
  baseUrl?: string | undefined
  path: string
  body: object
}

export interface TaskOrder extends Creation {
  /** The state that the task ends in. */
  end: 'COMPLETED' | 'success'
}

/** An image task, small unless its picture is given. */
export const relight = async (picture?: PictureOptions): Promise<TaskOrder> => ({
  path: `${IMAGE_API}/image-relight`,
  body: { image: await base64(picture) },
  end: 'COMPLETED',
})

export type TaskClient = Awaited<ReturnType<typeof startTaskClient>>

/** Creates tasks, and waits for their ends. */
export const startTaskClient = async (service: Service) => {
  const ends = await listenForEnds(service.database.sql, {
    table: 'task',
    when: 'old.ended_at is null and new.ended_at is not null',
  })
  /** Returns the id of the task. */
  const create = async (creation: Creation): Promise<string> => {
    const { owner = 'bench', baseUrl = service.baseUrl, path, body } = creation
    const headers = await bearer(service, owner)
    const url = baseUrl + path
    type Created = { task_id?: string; data?: { task_id: string } }
    const made = await callJson<Created>(url, { headers, body })
    return made.data?.task_id ?? made.task_id ?? ''
  }
  return {
    create,
    /** Creates a task; ends when readers see its end. */
    async run(order: TaskOrder): Promise<string> {
      const id = await create(order)
      const end = await ends.of(id)
      if (end !== order.end) throw new Error(`task ${id} is ${end}`)
      return id
    },
    /** Ends when the receiver has heard of it. */
    async runNotified(order: TaskOrder, receiver: WebhookReceiver): Promise<void> {
      const { url, notified } = listenAt(receiver, ({ request }) =>
        request.body.includes(`"${order.end}"`),
      )
      await create({ ...order, body: { ...order.body, webhook_url: url } })
      await notified
    },
    stop: () => ends.stop(),
  }
}
