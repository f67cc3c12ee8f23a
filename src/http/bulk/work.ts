import { withinDeadline } from '../../db/client.ts'
import { findUsedLimit } from '../../db/task/account.ts'
import type { Slots } from '../../db/video-task/video-queue.ts'
import { errors } from '../../domain/shared/errors.ts'
import type { Quotas } from '../../domain/task/quota.ts'
import type { ImageTaskDeps } from '../image-task/create.ts'
import { makeImageCreationRoutes } from '../image-task/routes.ts'
import { makeTemplateCreationRoute, type TemplateDeps } from '../template/routes.ts'
import { makeVideoCreationRoutes } from '../video-task/creation-routes.ts'
import type { VideoTaskDeps } from '../video-task/deps.ts'
import { makeAct, type Act } from './act.ts'
import { makeSubmit, type Submit, type SubmitDeps } from './submit.ts'

export interface WorkDeps extends ImageTaskDeps, TemplateDeps, VideoTaskDeps, Slots, SubmitDeps {}

/** Part of the quota of open tasks that batches leave to the other requests of their owner. */
const FREE_PART = 0.1
const partOf = (tasks: number): number => Math.ceil(tasks * (1 - FREE_PART))

/** Makes what batches and operations do: the same as the routes, in the process of a worker. */
export const makeBulkWork = (deps: WorkDeps): { submit: Submit; act: Act } => {
  const creation = { ...deps, quotas: leaveSome(deps.quotas) }
  const make = makeSubmit(creation, [
    ...makeImageCreationRoutes(creation),
    makeTemplateCreationRoute(creation),
    ...makeVideoCreationRoutes(creation),
  ])
  const submit: Submit = async (request) => {
    const used = { account: request.owner, part: 1 - FREE_PART }
    const limit = await withinDeadline(deps.sql, findUsedLimit(deps.sql, used))
    if (limit) throw errors.taskQuotaExceeded(limit.open, partOf(limit.most))
    await make(request)
  }
  return { submit, act: makeAct({ ...deps, submit }) }
}

const leaveSome = ({ owner, address }: Quotas): Quotas => ({
  owner: { ...owner, tasks: partOf(owner.tasks) },
  address,
})
