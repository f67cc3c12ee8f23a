import { randomUUID } from 'node:crypto'

import { Value } from 'typebox/value'

import type { Outbound } from '../../adapters/outbound.ts'
import type { Signer } from '../../adapters/signing.ts'
import type { Storage } from '../../adapters/storage/storage.ts'
import type { Sql } from '../../db/client.ts'
import { commit } from '../../db/commit.ts'
import { existsImageTask, insertImageTask } from '../../db/image-task.ts'
import type { NewTaskInput } from '../../db/image-task.ts'
import { insertOutbox } from '../../db/outbox.ts'
import { estimateSeconds } from '../../domain/image-estimate.ts'
import { IMAGE_KINDS } from '../../domain/image-kind.ts'
import { resultSize } from '../../domain/image-size.ts'
import type { ImageRequest, ImageTaskKind } from '../../domain/image-kind.ts'
import type { RenderTiming } from '../../domain/render-timing.ts'
import { failpoint } from '../../failpoint.ts'
import { startImageTask } from '../../jobs.ts'
import type { Jobs } from '../../jobs.ts'
import { getCaller } from '../caller.ts'
import type { JsonAnswer, RouteRequest } from '../route.ts'
import { storeInputs } from './inputs.ts'

export interface CreationDeps {
  sql: Sql
  jobs: Jobs
  storage: Storage
  signer: Signer
  outbound: Outbound
  publicUrl: string
  taskQueue: string
  timing: RenderTiming
  now: () => Date
}

/** Makes the handler that turns a valid body of a kind into a durable task. */
export const makeCreation =
  (deps: CreationDeps, kind: ImageTaskKind) =>
  async (request: RouteRequest): Promise<JsonAnswer> => {
    const id = randomUUID()
    const { owner } = getCaller(request)
    const settings = Value.Clean(IMAGE_KINDS[kind].settings, Value.Clone(request.body)) as object
    try {
      const inputs = await storeInputs(deps, { id, kind, request })
      const size = sizeOf(inputs)
      const answer = makeAnswer(deps, { kind, settings } as ImageRequest, { id, size })
      const start = startImageTask(
        { taskId: id, kind, owner, summary: summary(kind, owner, size) },
        deps,
      )
      await commitTask(deps, request, {
        answer,
        start,
        task: { id, kind, owner, settings, inputs },
      })
      return answer
    } catch (error) {
      await discardInputs(deps, id, error)
      throw error
    }
  }

interface TaskToCommit {
  answer: JsonAnswer
  start: ReturnType<typeof startImageTask>
  task: { id: string; kind: ImageTaskKind; owner: string; settings: object; inputs: NewTaskInput[] }
}

const commitTask = async (
  { sql, jobs }: CreationDeps,
  request: RouteRequest,
  { answer, start, task }: TaskToCommit,
): Promise<void> => {
  const webhookUrl = (request.body as { webhook_url?: string }).webhook_url ?? null
  const segment = IMAGE_KINDS[task.kind].family
  const row = await commit(
    sql,
    async (sql) => {
      const [row] = await Promise.all([
        insertOutbox(sql, start),
        insertImageTask(sql, { ...task, segment, webhookUrl }),
        request.finish(sql, answer),
      ])
      return row
    },
    // Without its outbox id the row is the relay's.
    { wasCommitted: () => existsImageTask(sql, task.id), answer: undefined },
  )
  failpoint('create.after-commit')
  if (row) jobs.kick(row)
}

/** A refused task keeps no files; one whose commit is in doubt must, because it may exist. */
const discardInputs = async (
  { storage }: CreationDeps,
  id: string,
  error: unknown,
): Promise<void> => {
  if ((error as { code?: string }).code === 'outcome_unknown') return
  await storage.removePrefix(`inputs/${id}`).catch(() => {})
}

interface Size {
  width: number
  height: number
}

const sizeOf = (inputs: NewTaskInput[]): Size | undefined => {
  const image = inputs.find((input) => input.field === 'image')
  return image?.width && image.height ? { width: image.width, height: image.height } : undefined
}

const makeAnswer = (
  { publicUrl }: CreationDeps,
  image: ImageRequest,
  { id, size }: { id: string; size: Size | undefined },
): JsonAnswer => ({
  status: 200,
  body: { data: { task_id: id, status: 'CREATED', generated: [] } },
  headers: {
    location: `${publicUrl}/proxy/imgvendor/v1/ai/${IMAGE_KINDS[image.kind].family}/${id}`,
    'x-credits-used': '0',
    'x-estimated-duration-seconds': String(
      estimateSeconds(image.kind, size && megapixels(image, size)),
    ),
  },
})

const megapixels = (image: ImageRequest, size: Size): number => {
  const { width, height } = resultSize(image, size)
  return (width * height) / 1_000_000
}

/** Summaries are limited to 400 bytes; an owner may be 255 characters. */
const OWNER_SHOWN = 60

const summary = (kind: string, owner: string, size: Size | undefined): string => {
  const name = [...owner].slice(0, OWNER_SHOWN).join('')
  return `${kind} ${size ? `${size.width}×${size.height}` : 'of a URL'} for ${name}`
}
