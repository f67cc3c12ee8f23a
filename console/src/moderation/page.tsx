import { getRouteApi, useNavigate } from '@tanstack/react-router'

import { PageTitle } from '../ui/page.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { AuditLog } from './audit-log.tsx'
import { Bans } from './bans.tsx'
import { Queue } from './queue.tsx'

const route = getRouteApi('/moderation')

const TABS = [
  { id: 'versions', title: 'Versions', content: () => <Queue key="versions" first="review" /> },
  { id: 'failed', title: 'Failed checks', content: () => <Queue key="failed" first="failed" /> },
  { id: 'bans', title: 'Bans', content: () => <Bans /> },
  { id: 'log', title: 'Audit log', content: () => <AuditLog /> },
] as const

/** What platform admins decide on. */
export const ModerationPage = () => {
  const { tab } = route.useSearch()
  const navigate = useNavigate()
  return (
    <>
      <PageTitle>Moderation</PageTitle>
      <Tabs
        label="Moderation"
        tabs={TABS}
        selected={TABS.find(({ id }) => id === tab)?.id ?? 'versions'}
        onSelect={(next) =>
          void navigate({ to: '/moderation', search: next === 'versions' ? {} : { tab: next } })
        }
      />
    </>
  )
}
