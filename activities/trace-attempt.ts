import type { Posted } from '../src/adapters/outbound/post.ts'
import { makeBatch } from '../src/db/batch.ts'
import type { BegunAttempt } from '../src/db/event/attempt.ts'
import { listTraces } from '../src/db/shared/outbox.ts'
import type { DeliveryDependencies } from './dependencies.ts'

type Send = (headers: Record<string, string>) => Promise<Posted>

/** Makes what shows an attempt in the trace of its task or version, and sends that trace to the webhook URL. */
export const makeTraceAttempt = ({ sql, tracing }: DeliveryDependencies) => {
  const findTrace = makeBatch(async (subjects: readonly string[]) => {
    const found = await listTraces(sql, subjects)
    const traces = new Map(found.map(({ subject, traceparent }) => [subject, traceparent]))
    return subjects.map((subject) => traces.get(subject))
  })
  return async (
    { eventId }: { eventId: string },
    { taskId, endpoint, number }: BegunAttempt,
    send: Send,
  ): Promise<Posted> => {
    const parent = tracing && (await findTrace(endpoint?.subjectId ?? taskId))
    if (!tracing || parent === undefined) return await send({})
    const attributes = { 'event.id': eventId, 'attempt.number': number }
    return await tracing.span('send the webhook', { kind: 'client', parent, attributes }, () =>
      send({ traceparent: tracing.current() ?? parent }),
    )
  }
}
