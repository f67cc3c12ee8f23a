import { unitOfWork } from '../src/db/unit-of-work.ts'
import type { Tell } from '../src/db/unit-of-work.ts'
import type { Transaction } from '../src/db/client.ts'
import type { CoreDependencies } from './dependencies.ts'

/** Moves a task in one transaction; then first tries of this worker look for its event at once. */
export const moveTask = async <T>(
  deps: CoreDependencies,
  taskId: string,
  work: (sql: Transaction, tell: Tell) => Promise<T>,
): Promise<T> => {
  const result = await unitOfWork(deps, work, { at: 'move', of: taskId })
  deps.bell.ring()
  return result
}
