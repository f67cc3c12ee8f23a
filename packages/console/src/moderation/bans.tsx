import { useQuery, type UseQueryResult } from '@tanstack/react-query'

import { readQuery, send } from '../api/client.ts'
import { showToast } from '../shell/toasts.tsx'
import type { Action } from '../ui/actions.tsx'
import { AskButton } from '../ui/ask.tsx'
import type { Values } from '../ui/ask-field.tsx'
import { Link, nodePage, publisherPage } from '../ui/link.tsx'
import { Columns, Panel } from '../ui/panels.tsx'
import { Listing } from '../ui/rows.tsx'
import { Bdi } from '../ui/values.tsx'
import { t } from '../words/translate.ts'
import { SameContent } from './related.tsx'

type Kind = 'node' | 'publisher'

const REASON = { name: 'reason', label: t('Reason'), rows: 3 }
const HELP = {
  node: t('None of its versions can be found or installed. Its publisher can read the reason.'),
  publisher: t(
    'All its packs are hidden and its members can’t publish. The reason is kept in the audit log.',
  ),
}
const reasonFor = (kind: Kind) => ({ ...REASON, help: HELP[kind] })

/** Time to follow a link. */
const READ_SECONDS = 60

const STATUS = { ban: 'NodeStatusBanned', unban: 'NodeStatusActive' } as const

/** Bans a node or a publisher, or lifts its ban; without an id it is that of the form. */
const write =
  (move: 'ban' | 'unban', kind: Kind, known = '') =>
  async ({ id = known, reason = '' }: Values): Promise<void> => {
    const path = { publisherId: id, nodeId: id }
    const body = { status: STATUS[move], status_detail: reason }
    const { same_content: same = [] } =
      kind === 'publisher'
        ? await send('POST', `/admin/publishers/{publisherId}/${move}`, { path, body: { reason } })
        : await send('PUT', '/admin/nodes/{nodeId}', { path, body })
    if (same.length > 0) showToast(<SameContent of={same} />, { seconds: READ_SECONDS })
  }

const WORDS = {
  node: {
    ban: t('Ban pack'),
    banOne: t('Ban a pack'),
    id: t('ID of the pack'),
    banned: t('Banned packs'),
    none: t('No banned packs'),
  },
  publisher: {
    ban: t('Ban publisher'),
    banOne: t('Ban a publisher'),
    id: t('ID of the publisher'),
    banned: t('Banned publishers'),
    none: t('No banned publishers'),
  },
}

/** Entry of a menu that bans a node or a publisher. */
export const banOf = (kind: Kind, id: string): Action => ({
  label: WORDS[kind].ban,
  title: t('Ban {id}?', { id }),
  variant: 'danger',
  typed: id,
  fields: [reasonFor(kind)],
  write: write('ban', kind, id),
})

/** Asks for the id of what is to be banned. */
const BanButton = ({ kind }: { kind: Kind }) => (
  <AskButton
    label={WORDS[kind].banOne}
    variant="danger"
    action={WORDS[kind].ban}
    fields={[{ name: 'id', label: WORDS[kind].id }, reasonFor(kind)]}
    write={write('ban', kind)}
  />
)

const publishersQuery = readQuery('/publishers', {
  query: { limit: 1000, status: 'PublisherStatusBanned' },
})
const nodesQuery = readQuery('/nodes', { query: { limit: 1000, status: 'NodeStatusBanned' } })

/** Banned publishers and nodes, with a way back. */
export const Bans = () => (
  <Columns>
    <BanList kind="publisher" query={useQuery(publishersQuery)} />
    <BanList
      kind="node"
      query={useQuery({
        ...nodesQuery,
        select: ({ nodes }) => nodes.filter((node) => 'publisher' in node),
      })}
    />
  </Columns>
)

type Banned = { id: string; name: string; status_detail?: string }
type BanListProps = { kind: Kind; query: UseQueryResult<readonly Banned[]> }

const BanList = ({ kind, query }: BanListProps) => (
  <Panel title={WORDS[kind].banned} actions={<BanButton kind={kind} />}>
    <Listing
      label={WORDS[kind].banned}
      query={query}
      empty={WORDS[kind].none}
      columns={{
        [t('Name')]: ({ id, name }) =>
          kind === 'node' ? (
            <Link {...nodePage(id)}>{name}</Link>
          ) : (
            <Link {...publisherPage(id)}>{name}</Link>
          ),
        [t('Reason')]: ({ status_detail: reason = t('in the audit log') }) => <Bdi>{reason}</Bdi>,
        '': ({ id }) => (
          <AskButton
            label={t('Lift ban')}
            title={t('Lift the ban of {id}?', { id })}
            fields={[REASON]}
            write={write('unban', kind, id)}
          />
        ),
      }}
    />
  </Panel>
)
