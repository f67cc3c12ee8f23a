/** Import that no workflow may have, for the test that proves it would be noticed: a value from outside its folder. */
import { TASK_ERRORS } from '../../src/tasks/domain/task-error.ts'

export const valueImport = (): Promise<string> => Promise.resolve(TASK_ERRORS.timeout)
