import { send } from '../api/client.ts'
import { showToast } from '../shell/toasts.tsx'
import type { Action } from '../ui/actions.tsx'

const TO = { name: 'to', label: 'ID of the publisher that gets it' }

/** Entry of a menu by which an owner offers a pack to another publisher. */
export const offerOf = (path: { publisherId: string; nodeId: string }): Action => ({
  label: 'Transfer pack',
  title: `Offer ${path.nodeId} to another publisher?`,
  action: 'Offer',
  fields: [TO],
  write: ({ to = '' }) =>
    send('POST', '/publishers/{publisherId}/nodes/{nodeId}/transfer', {
      path,
      body: { to: to.trim() },
    }),
  onDone: () => void showToast('Offered. An owner of the other publisher can accept it.'),
  children: (
    <p>
      An owner of that publisher accepts it within 14 days. Then tokens for the pack and trusted CI
      jobs of yours end.
    </p>
  ),
})

/** Entry of a menu by which a platform admin gives a pack to another publisher at once. */
export const giveAway = (nodeId: string): Action => ({
  label: 'Give to another publisher',
  title: `Give ${nodeId} to another publisher?`,
  action: 'Give',
  typed: nodeId,
  fields: [TO, { name: 'reason', label: 'Reason', rows: 3, help: 'Kept in the audit log.' }],
  write: ({ to = '', reason = '' }) =>
    send('POST', '/admin/nodes/{nodeId}/transfer', {
      path: { nodeId },
      body: { to: to.trim(), reason },
    }),
  onDone: () => void showToast(`${nodeId} has a new publisher.`),
  children: (
    <p>At once, without an offer: for a name that was squatted, or a publisher that is gone.</p>
  ),
})
