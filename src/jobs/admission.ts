import type { AdmissionRules } from '../db/task/admission.ts'
import type { Config } from '../process/settings/env.ts'
import { readSlots, readTimings } from '../process/settings/derived.ts'
import { makeStartOf } from './task.ts'

/** Reads the rules by which tasks are admitted. */
export const readAdmission = (config: Config): AdmissionRules => ({
  ...readSlots(config),
  startOf: makeStartOf({
    taskQueue: config.TASK_QUEUE,
    publicUrl: config.PUBLIC_URL,
    ...readTimings(config),
  }),
})
