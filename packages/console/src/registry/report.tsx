import { useQuery } from '@tanstack/react-query'

import { readQuery, send, type Data } from '../api/client.ts'
import { useMe } from '../api/queries.ts'
import { useRole } from '../publish/queries.ts'
import { AskButton } from '../ui/ask.tsx'
import { Note } from '../ui/panels.tsx'
import { Bdi, Time } from '../ui/values.tsx'
import { rich, t } from '../words/translate.ts'
import type { Node } from './queries.ts'

const REPORTS = '/nodes/{nodeId}/reports'
const MINE = `${REPORTS}/mine` as const

type Reason = Data<'/nodes/{nodeId}/reports/mine'>['reports'][number]['reason']

/** Reasons of a report, in words. */
export const REPORT_REASONS: Record<Reason, string> = {
  malware: t('Malware'),
  spam: t('Spam'),
  name: t('Misleading name'),
  licence: t('License'),
  broken: t('Broken'),
  other: t('Something else'),
}

/** Reports a pack to the platform admins, and says what has come of the caller's newest report. Members and platform admins have other ways. */
export const ReportPack = ({ node }: { node: Node }) => {
  const me = useMe()
  const role = useRole(node.publisher.id)
  const path = { nodeId: node.id }
  const isReader = me !== undefined && !me.isAdmin && !role
  const mine = useQuery({ ...readQuery(MINE, { path }), enabled: isReader })
  const [last] = mine.data?.reports ?? []
  if (!isReader || !mine.data) return null
  const open = last?.closed_at ? undefined : last
  return (
    <>
      {last && (
        <Note>
          {last.closed_at ? (
            <>
              {rich('Your report was closed {time}:', { time: <Time at={last.closed_at} /> })}{' '}
              <Bdi>{last.decision}</Bdi>
            </>
          ) : (
            <>
              {rich('You reported this pack {time}. A platform admin will decide.', {
                time: <Time at={last.created_at} />,
              })}
            </>
          )}
        </Note>
      )}
      <AskButton
        label={open ? t('Edit your report') : t('Report this pack')}
        title={t('Report {id}', { id: node.id })}
        action={open ? t('Save') : t('Report')}
        fields={[
          {
            name: 'reason',
            label: t('What is wrong'),
            options: REPORT_REASONS,
            value: open?.reason,
          },
          {
            name: 'text',
            label: t('Details'),
            rows: 4,
            value: open?.text,
            help: t('Only platform admins can read it. You will see their decision here.'),
          },
        ]}
        write={({ reason: given = 'other', text: written = '' }) =>
          send('POST', REPORTS, { path, body: { reason: given as Reason, text: written } })
        }
      />
    </>
  )
}
