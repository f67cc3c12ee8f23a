import { send } from '../api/client.ts'
import { showToast } from '../shell/toasts.tsx'
import type { Action } from '../ui/actions.tsx'
import { t } from '../words/translate.ts'

const TO = { name: 'to', label: t('ID of the publisher that gets it') }

/** Entry of a menu by which an owner offers a pack to another publisher. */
export const offerOf = (path: { publisherId: string; nodeId: string }): Action => ({
  label: t('Transfer pack'),
  title: t('Offer {nodeId} to another publisher?', { nodeId: path.nodeId }),
  action: t('Offer'),
  fields: [TO],
  write: ({ to = '' }) =>
    send('POST', '/publishers/{publisherId}/nodes/{nodeId}/transfer', {
      path,
      body: { to: to.trim() },
    }),
  onDone: () => void showToast(t('Offered. An owner of the other publisher can accept it.')),
  children: (
    <p>
      {t(
        'An owner of that publisher accepts it within 14 days. Then tokens for the pack and trusted CI jobs of yours end.',
      )}
    </p>
  ),
})

/** Entry of a menu by which a platform admin gives a pack to another publisher at once. */
export const giveAway = (nodeId: string): Action => ({
  label: t('Give to another publisher'),
  title: t('Give {nodeId} to another publisher?', { nodeId }),
  action: t('Give'),
  typed: nodeId,
  fields: [TO, { name: 'reason', label: t('Reason'), rows: 3, help: t('Kept in the audit log.') }],
  write: ({ to = '', reason = '' }) =>
    send('POST', '/admin/nodes/{nodeId}/transfer', {
      path: { nodeId },
      body: { to: to.trim(), reason },
    }),
  onDone: () => void showToast(t('{nodeId} has a new publisher.', { nodeId })),
  children: (
    <p>{t('At once and without an offer, for squatted names or publishers that are gone.')}</p>
  ),
})
