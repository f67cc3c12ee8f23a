/** What a workflow must not do, for the test that proves it would be noticed: a value from outside its folder. */
import { TASK_FAULTS } from '../../src/domain/task/task-fault.ts'

export const valueImport = (): Promise<string> => Promise.resolve(TASK_FAULTS.timeout)
