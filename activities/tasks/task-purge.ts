import { deleteOldBulks, listUnknownBulks } from '../../src/tasks/db/bulk/bulk.ts'
import {
  listTasksToPurge,
  listUnknownTasks,
  listUploadsToPurge,
  purgeUpload,
} from '../../src/tasks/db/purge.ts'
import { purgeTask } from '../../src/tasks/db/task-deletion.ts'
import type { CoreDependencies } from './dependencies.ts'
import type { Purges } from '../platform/purge-expired.ts'

/** Makes the removals by age of tasks, uploads, batches and operations. */
export const makeTaskPurges = ({ sql, storage, retentionDays }: CoreDependencies): Purges => ({
  records: [() => deleteOldBulks(sql, retentionDays)],
  files: [
    {
      name: 'tasks',
      list: () => listTasksToPurge(sql, retentionDays),
      remove: (id) => purgeTask({ sql, storage }, id),
    },
    {
      name: 'uploads',
      list: () => listUploadsToPurge(sql),
      remove: (id) => purgeUpload({ sql, storage }, id),
    },
  ],
  folders: [
    { name: 'inputs', listUnknown: (ids) => listUnknownTasks(sql, ids) },
    { name: 'batches', listUnknown: (ids) => listUnknownBulks(sql, ids) },
  ],
})
