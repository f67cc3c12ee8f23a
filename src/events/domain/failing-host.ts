import { counted } from '../../platform/domain/counted.ts'
import type { DeliveryHost } from '../../tasks/domain/operations.ts'

/** Says to operators which events a webhook host does not take, whose they are, and what to do. */
export const describeFailingHost = (found: DeliveryHost): string => {
  const { host, failing, failing_owners: owners = [], failing_owners_total: total = 0 } = found
  const { last_status: status, last_error_class: error, failing_since: since } = found
  const whose = total > owners.length ? counted(total, 'owner') : owners.join(', ')
  const last = status === undefined ? (error ?? 'no response') : `status ${status}`
  return `${counted(failing, 'event')} of ${whose} for ${host} failed (${last}) since ${since}: its owner mends the webhook URL, attempts go on for three days, and a pause of host:${host} saves them`
}
