import { useState } from 'react'

import { send, type Data } from '../api/client.ts'
import { shareLink } from '../api/links.ts'
import { Actions, type Action } from '../ui/actions.tsx'
import { SecretDialog } from '../ui/ask.tsx'
import { Time } from '../ui/values.tsx'
import { rich, t } from '../words/translate.ts'
import type { TaskDetail } from './types.ts'

const TOKENS = '/tasks/{task_id}/tokens'

/** Menu of the owner of a task. */
export const ManageTask = ({ task }: { task: TaskDetail }) => {
  const { task_id: id, deleted_at: deleted, ended_at: ended, cancellable } = task
  const [shared, setShared] = useState<Data<typeof TOKENS, 'post'>>()
  const path = { task_id: id }
  const isRendering = ended === undefined && !cancellable
  const actions: (Action | false)[] = [
    {
      label: t('Share'),
      title: t('Share this task?'),
      action: t('Create link'),
      write: async () => setShared(await send('POST', TOKENS, { path, body: {} })),
      children: (
        <p>
          {t(
            'Creates a link that shows this task and its results to whoever has it, without an account, and nothing else. It ends within an hour.',
          )}
        </p>
      ),
    },
    deleted === undefined && {
      label: t('Delete'),
      title: t('Delete this task?'),
      action: t('Delete task'),
      variant: 'danger',
      write: () => send('DELETE', '/tasks/{task_id}', { path, query: { when: 'ended' } }),
      children: (
        <p>
          {isRendering && `${t('It is rendering and will be deleted when that ends.')} `}
          {cancellable && `${t('It is cancelled first.')} `}
          {t(
            'Its inputs, results and prompt are removed, and links to them end. This can’t be undone.',
          )}
        </p>
      ),
    },
  ]
  return (
    <>
      <Actions label={t('More for this task')} actions={actions} />
      {shared && (
        <SecretDialog
          title={t('Link to this task')}
          secret={shareLink(id, shared.token)}
          onClose={() => setShared(undefined)}
        >
          <p>
            {rich(
              'It ends {time}. The token behind # reads the task by the API, too: <a>let a page of yours follow it</a>.',
              {
                time: <Time at={shared.expires_at} />,
                a: (text) => <a href="/docs/browser">{text}</a>,
              },
            )}
          </p>
        </SecretDialog>
      )}
    </>
  )
}
