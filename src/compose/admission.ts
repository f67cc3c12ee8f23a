import type { AdmissionRules } from '../tasks/db/admission.ts'
import type { Config } from './settings/env.ts'
import { readSlots, readTimings } from './settings/derived.ts'
import { makeStartOf } from '../tasks/temporal/task.ts'

/** Reads the rules by which tasks are admitted. */
export const readAdmission = (config: Config): AdmissionRules => ({
  ...readSlots(config),
  startOf: makeStartOf({
    taskQueue: config.TASK_QUEUE,
    publicUrl: config.PUBLIC_URL,
    ...readTimings(config),
  }),
})
