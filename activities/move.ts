import { unitOfWork } from '../src/db/unit-of-work.ts'
import type { Tell } from '../src/db/unit-of-work.ts'
import type { Transaction } from '../src/db/client.ts'
import type { CoreDependencies } from './dependencies.ts'

/** Moves a task in one transaction. */
export const moveTask = <T>(
  deps: CoreDependencies,
  taskId: string,
  work: (sql: Transaction, tell: Tell) => Promise<T>,
): Promise<T> => unitOfWork(deps, work, { at: 'move', of: taskId })
