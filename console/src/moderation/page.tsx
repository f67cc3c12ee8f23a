import { PageTitle } from '../ui/page.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { AuditLog } from './audit-log.tsx'
import { Bans } from './bans.tsx'
import { Queue } from './queue.tsx'

const TABS = [
  { id: 'versions', title: 'Versions', content: <Queue key="versions" first="review" /> },
  { id: 'failed', title: 'Failed checks', content: <Queue key="failed" first="failed" /> },
  { id: 'bans', title: 'Bans', content: <Bans /> },
  { id: 'log', title: 'Audit log', content: <AuditLog /> },
]

/** What platform admins decide on. */
export const ModerationPage = () => (
  <>
    <PageTitle>Moderation</PageTitle>
    <Tabs label="Moderation" tabs={TABS} />
  </>
)
