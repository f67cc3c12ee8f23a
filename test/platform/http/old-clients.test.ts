import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'

import { verifyWebhook } from '../../../packages/client/src/index.ts'
import { isObject } from '../../../src/platform/domain/is-object.ts'
import { useWebhookReceiver } from '../../support/receiver.ts'
import { useService } from '../../support/service.ts'
import { waitFor } from '../../support/wait.ts'

/**
 * Members of a response by the type of each, or by their value behind `=`. Of a list its first item stands for all; `null`
 * allows any value.
 */
type Reads = string | readonly Reads[] | { readonly [member: string]: Reads }

/** A request of the clients of ec49e796, as a proxy recorded it. `{{4#/data/task_id}}` is what the fifth response had there. */
interface Step {
  request: string
  headers: Record<string, string>
  /** It has the token of its caller. */
  isSigned?: boolean
  body?: string
  /** A body that is no JSON, in Base64. */
  bytes?: string
  status: number
  type: string
  /** Members of the JSON, of its first line, or of the last event. */
  reads?: Reads
  /** It was asked until it was so. */
  isRepeated?: boolean
}

const service = useService({ env: { OVERRIDE_VIDEO_TINY: 'true' } })
const receiver = useWebhookReceiver()

/** Lists where a value lacks what was read of it. */
const listLacks = (value: unknown, reads: Reads, at = ''): string[] => {
  if (typeof reads === 'string') {
    const isSame = reads === 'null' || typeof value === reads || `=${String(value)}` === reads
    return isSame ? [] : [`${at} was ${reads}, is ${JSON.stringify(value)}`]
  }
  if (Array.isArray(reads)) {
    const [first] = reads as readonly Reads[]
    if (!Array.isArray(value)) return [`${at} was a list`]
    return first === undefined ? [] : listLacks(value[0], first, `${at}/0`)
  }
  if (!isObject(value)) return [`${at} was an object`]
  return Object.entries(reads).flatMap(([name, rule]) =>
    listLacks(value[name], rule, `${at}/${name}`),
  )
}

const readText = (text: string, type: string): unknown => {
  if (type === 'application/jsonl') return JSON.parse(text.split('\n')[0] ?? '')
  if (type !== 'text/event-stream') return JSON.parse(text)
  const data = [...text.matchAll(/^data: ?(.+)$/gm)].at(-1)?.[1]
  return JSON.parse(data ?? '')
}

describe('the clients of ec49e796', () => {
  for (const name of ['typescript', 'python'])
    test(`have the conversations that they had, in ${name}`, async () => {
      const path = join(import.meta.dirname, `old-clients/${name}.jsonl`)
      const lines = (await readFile(path, 'utf8')).trim().split('\n')
      const recorded = lines.map((line) => JSON.parse(line) as unknown)
      const { hooks } = recorded.pop() as { hooks: Reads[] }
      const steps = recorded as Step[]
      const token = await service.token(`old-${name}`)
      const had: unknown[] = []
      const hook = receiver.url(`/${name}`)
      const fill = (text: string): string =>
        text
          .replaceAll('{{hook}}', hook)
          .replaceAll(/\{\{(\d+)#([^}]*)\}\}/g, (_, index: string, pointer: string) =>
            String(
              pointer
                .split('/')
                .slice(1)
                .reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], had[+index]),
            ),
          )

      const send = async (step: Step): Promise<{ body: unknown; lacks: string[] }> => {
        const { headers, isSigned, body, bytes, status, type, reads } = step
        const [method = '', place = ''] = fill(step.request).split(' ')
        const response = await fetch(new URL(place, service.baseUrl), {
          method,
          headers: { ...headers, ...(isSigned && { authorization: `Bearer ${token}` }) },
          ...(body !== undefined && { body: fill(body) }),
          ...(bytes !== undefined && { body: Buffer.from(bytes, 'base64') }),
        })
        const text = await response.text()
        const found = response.headers.get('content-type')?.split(';')[0] ?? ''
        if (response.status !== status || found !== type)
          return { body: text, lacks: [`${response.status} ${found}: ${text}`] }
        const read = reads === undefined ? undefined : readText(text, type)
        return { body: read, lacks: reads === undefined ? [] : listLacks(read, reads) }
      }

      for (const step of steps) {
        const { body, lacks } = step.isRepeated
          ? await waitFor(step.request, async () => {
              const sent = await send(step)
              return sent.lacks.length === 0 && sent
            })
          : await send(step)
        assert.deepEqual(lacks, [], step.request)
        had.push(body)
      }
      const { secret } = had.find((one) => isObject(one) && 'secret' in one) as { secret: string }
      await waitFor('the webhooks', () => receiver.of(`/${name}`).length >= hooks.length)
      const events = await Promise.all(
        receiver.of(`/${name}`).map(async ({ headers, body }) => {
          const { body: event } = await verifyWebhook<{ type: string }>(secret, { headers, body })
          return event
        }),
      )
      for (const reads of hooks)
        assert.ok(
          events.some((event) => listLacks(event, reads).length === 0),
          `${JSON.stringify(reads)} of ${JSON.stringify(events)}`,
        )
    })
})
