import { randomUUID } from 'node:crypto'

import { withinDeadline, type Sql } from '../../platform/db/client.ts'
import { beatWorker, endWorker, type WorkerRow } from '../db/worker.ts'
import type { Log } from '../../platform/log.ts'
import { startLoop, type Loop } from '../../platform/process/loop.ts'

/** A worker that is silent for six of these does not live. */
const BEAT_MS = 5000

/** Has a worker say that it lives and what it takes, until it stops. */
export const startBeat = ({
  sql,
  identity,
  role,
  slots,
  log,
}: Pick<WorkerRow, 'identity' | 'role'> & {
  sql: Sql
  log: Log
  slots(): WorkerRow['slots']
}): Loop => {
  const id = randomUUID()
  const beat = () => withinDeadline(sql, beatWorker(sql, { id, identity, role, slots: slots() }))
  const loop = startLoop('beat', beat, { intervalMs: BEAT_MS, log })
  return {
    async stop() {
      await loop.stop()
      // Lost, it is found silent.
      await withinDeadline(sql, endWorker(sql, id)).catch(() => {})
    },
  }
}
