import { Readable } from 'node:stream'

import { withinDeadline } from '../platform/db/client.ts'
import { findUsedLimit } from './db/account.ts'
import { IMAGE_KINDS, type ImageKind } from './domain/image/image-kind.ts'
import { errors } from '../platform/domain/errors.ts'
import { makeOnce } from '../platform/domain/make-once.ts'
import type { Quotas } from './domain/quota.ts'
import { makeAct, type Act, type ActDeps } from './act.ts'
import { makeImageCreation } from './create-image.ts'
import { makeVideoCreations, type VideoTaskDeps } from './create-video.ts'
import type { Creation } from './creation.ts'
import { makeSubmit, type Submit, type SubmitDeps } from './submit.ts'
import { BatchRequest } from './domain/bulk/batch.ts'
import { listUnread, unreadIssues, type Unread } from '../platform/domain/unread.ts'
import { makeValidator } from '../platform/domain/validate.ts'
import type { BodyLimits } from '../platform/json-body/body-limits.ts'
import { readJsonBody, type BodyDeps } from '../platform/json-body/read-json-body.ts'
import { requireValid } from '../platform/json-body/validate-body.ts'

export interface WorkDeps
  extends
    VideoTaskDeps,
    BodyDeps,
    Pick<SubmitDeps, 'aliases' | 'idempotency'>,
    Pick<ActDeps, 'redeliver' | 'stopEvents'> {
  /** The kinds that templates make; the same list until one of them has changed. */
  customKinds: { list(): readonly ImageKind[] }
}

export interface BulkWork {
  /** Reads a line of a batch. Throws 400. */
  readLine(bytes: Buffer): Promise<Line>
  submit: Submit
  act: Act
}

/** Part of the quota of open tasks that batches leave to the other requests of their owner. */
const FREE_PART = 0.1
const partOf = (tasks: number): number => Math.ceil(tasks * (1 - FREE_PART))

/** Makes what batches and operations do: the same as the routes, in the process of a worker. */
export const makeBulkWork = (deps: WorkDeps): BulkWork => {
  const own = { ...deps, quotas: leaveSome(deps.quotas), maxPixels: deps.maxImagePixels }
  const ofKind = makeOnce((kind: ImageKind) => makeImageCreation(own, kind))
  const fixed: Creation[] = [
    ...Object.values(IMAGE_KINDS).map(ofKind),
    ...Object.values(makeVideoCreations(own)),
  ]
  const make = makeSubmit(own, () => [...fixed, ...deps.customKinds.list().map(ofKind)])
  const submit: Submit = async (submission) => {
    const used = { account: submission.owner, part: 1 - FREE_PART }
    const limit = await withinDeadline(deps.sql, findUsedLimit(deps.sql, used))
    if (limit) throw errors.taskQuotaExceeded(limit.open, partOf(limit.max))
    await make(submission)
  }
  return { readLine: (bytes) => readLine(deps, bytes), submit, act: makeAct({ ...deps, submit }) }
}

const leaveSome = ({ owner, address }: Quotas): Quotas => ({
  owner: { ...owner, tasks: partOf(owner.tasks) },
  address,
})

/** A line of a batch that could be read. */
interface Line {
  /** The name that its caller gave it, also where the line is not valid. */
  customId: string | undefined
  /** Throws 400 with all that is wrong with the line, apart from its body, whose path has the rules. */
  requireRequest(): BatchRequest
}

/** Limits of a line: images stay text until its path is known. */
const LIMITS: BodyLimits = { maxBytes: 2 ** 21, memoryBytes: 2 ** 21, deadlineMs: 60_000 }

const validate = makeValidator(BatchRequest)

/** Reads a line of a batch as strictly as a body of HTTP. Throws 400. */
const readLine = async (
  { maxImagePixels: maxPixels, ...deps }: BodyDeps,
  bytes: Buffer,
): Promise<Line> => {
  const headers = { 'content-type': 'application/json', 'content-length': String(bytes.length) }
  const source = Object.assign(Readable.from([bytes], { objectMode: false }), { headers })
  const { value } = await readJsonBody(source, { ...LIMITS, ...deps, maxPixels, address: 'batch' })
  const { body, ...members } = value
  const valid = validate(value)
  const line = valid.value as BatchRequest
  const isNamed = !valid.issues.some(({ field }) => field === '/custom_id')
  return {
    customId: isNamed ? line.custom_id : undefined,
    requireRequest() {
      const found = listUnread(BatchRequest, members, true)
      const others = found.filter(isOther).map((one) => ({ ...one, ...OTHER_FORM }))
      const unread = found.filter((one) => !isOther(one))
      requireValid(
        {},
        {
          further: unreadIssues(others, true),
          body: { ...valid, unread, inline: new Map() },
          isStrict: () => true,
        },
      )
      return { ...line, body: body as BatchRequest['body'] }
    },
  }
}

/** True of a member that lines of another service's batches have. */
const isOther = ({ field }: Unread): boolean => ['/url', '/method'].includes(field)

const OTHER_FORM = { meant: undefined, reason: 'use path and body' }
