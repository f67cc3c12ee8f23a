import { withLoopLock } from '../platform/db/reconcile.ts'
import type { ApiBase } from '../platform/api.ts'
import { startLoop } from '../platform/process/loop.ts'
import type { PlatformConfig } from '../platform/settings/settings.ts'
import { IDLE_MS, makeAdmissionPass } from './admission-pass.ts'
import { untilNextEnd } from './domain/pause.ts'
import { makePublicPauses } from './http/pauses.ts'
import { makeOwnerEngine, makeOwnerRules } from './owner-rules.ts'
import { makeEngineOf, readAdmission, readQuotas, type TaskConfig } from './settings.ts'
import type { DeletionDeps } from './delete.ts'
import type { TaskDeps } from './deps.ts'

/** Makes what routes of tasks take, and starts the pass that admits them. */
export const makeTaskApi = async (
  base: ApiBase,
  config: TaskConfig & PlatformConfig,
  /** Stops the events of a task, and finds what upstreams take; of areas that this one does not know. */
  others: Pick<DeletionDeps, 'stopEvents'> & Pick<Required<TaskDeps>, 'upstreamMembers'>,
) => {
  const { commit, live, sql, signer, now, storage, outbound, publicUrl, taskQueue } = base
  const admission = readAdmission(config)
  const quotas = readQuotas(config)
  const taskRead = { sql, signer, now }
  const end = { ...commit, ...taskRead, ...live, ...admission, storage }
  const ownerRules = makeOwnerRules(sql)
  const pauses = makePublicPauses(sql)
  await Promise.all([pauses.refresh(), ownerRules.refresh()])
  const task = {
    ...end,
    outbound,
    publicUrl,
    taskQueue,
    quotas,
    engineOf: makeOwnerEngine(ownerRules, makeEngineOf(config)),
    upstreamMembers: others.upstreamMembers,
  }
  const admit = makeAdmissionPass({ ...commit, ...admission })
  return {
    ownerRules,
    pauses,
    admission,
    routes: {
      imageTask: task,
      videoTask: {
        ...task,
        offPeakSeconds: config.OFF_PEAK_DEADLINE_SECONDS,
        videoAuth: config.VIDEO_AUTH,
        extendSource: config.VIDEO_EXTEND_SOURCE,
        creditLimit: config.OWNER_CREDIT_LIMIT,
      },
      anyTask: { ...end, ...others, publicUrl, workflowUrl: base.workflowUrl },
      bulk: { ...commit, ...taskRead, storage, outbound, taskQueue },
      upload: { ...commit, ...base.received, signer, now, storage, quotas },
      file: {
        ...taskRead,
        storage,
        heavyReadSemaphore: base.lists.heavyReadSemaphore,
      },
    },
    /** Reads again what tasks go by, here and in other areas, when it changes and when a pause ends. */
    startRules: (further: readonly { refresh(): Promise<unknown> }[]) =>
      startLoop(
        'rules',
        async () => {
          const rules = [ownerRules, ...further].map((one) => one.refresh())
          const [paused] = await Promise.all([pauses.refresh(), ...rules])
          return untilNextEnd(paused, config.RULES_INTERVAL_MS)
        },
        { intervalMs: config.RULES_INTERVAL_MS, notifier: base.notifiers.rules, log: base.log },
      ),
    /** Starts once the api listens. */
    startLoops: () => [
      startLoop(
        'admission',
        (signal) => withLoopLock(base.lockSql, 'admission', () => admit(signal)),
        { intervalMs: IDLE_MS, notifier: base.notifiers.admission, log: base.log },
      ),
    ],
  }
}
