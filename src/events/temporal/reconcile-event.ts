import { listStalledDeliveries, listStalledRedeliveries } from '../db/delivery.ts'
import type { StillDelivery, StillRedelivery } from '../db/delivery.ts'
import { announceEvent, startDelivery, startRedelivery } from './start-delivery.ts'
import {
  startAgain,
  type Check,
  type Reconciled,
  type ReconcileDeps,
} from '../../platform/temporal/reconcile.ts'

/** Makes the kinds of deliveries. */
export const makeReconciledEvents = (options: ReconcileDeps): Reconciled[] => [
  {
    list: listStalledDeliveries,
    reconcile: (delivery: StillDelivery, check) => reconcileDelivery(options, delivery, check),
  },
  {
    list: listStalledRedeliveries,
    reconcile: (redelivery: StillRedelivery, check) =>
      reconcileRedelivery(options, redelivery, check),
  },
]

/** Makes an open delivery check again: it may wait for a signal that was lost. */
const reconcileDelivery = async (
  options: ReconcileDeps,
  { id, kind, owner }: StillDelivery,
  check: Check,
): Promise<void> => {
  const start = startDelivery({ taskId: id, kind, owner }, options)
  const state = await check(start.workflowId)
  if (state === undefined) return await announceEvent(options.jobs, id)
  options.log.warn({ task_id: id, workflow: state }, 'delivery of events reconciled')
  options.metrics?.reconciled.inc({ what: 'delivery', workflow: state })
  await startAgain(options, { ...start, kind: 'restart' })
}

const reconcileRedelivery = async (
  options: ReconcileDeps,
  { id, owner }: StillRedelivery,
  check: Check,
): Promise<void> => {
  const start = startRedelivery({ redeliveryId: id, owner }, options)
  const state = await check(start.workflowId)
  if (state === undefined) return
  options.log.warn({ redelivery_id: id, workflow: state }, 'redelivery reconciled')
  options.metrics?.reconciled.inc({ what: 'redelivery', workflow: state })
  await startAgain(options, { ...start, kind: 'restart' })
}
