import { withinDeadline } from '../platform/db/client.ts'
import { findUsedLimit } from './db/account.ts'
import { IMAGE_KINDS, type ImageKind } from './domain/image/image-kind.ts'
import { errors } from '../platform/domain/errors.ts'
import { makeOnce } from '../platform/domain/make-once.ts'
import type { Quotas } from './domain/quota.ts'
import { makeAct, type Act, type ActDeps } from './act.ts'
import { readLine, type Line, type LineDeps } from './batch-line.ts'
import { makeImageCreation } from './create-image.ts'
import { makeVideoCreations, type VideoTaskDeps } from './create-video.ts'
import type { Creation } from './creation.ts'
import { makeSubmit, type Submit, type SubmitDeps } from './submit.ts'

export interface WorkDeps
  extends
    VideoTaskDeps,
    LineDeps,
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
