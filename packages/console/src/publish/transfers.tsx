import { useQuery } from '@tanstack/react-query'

import { send, type Data } from '../api/client.ts'
import { AskButton } from '../ui/ask.tsx'
import { Link, nodePage, publisherPage } from '../ui/link.tsx'
import { Row } from '../ui/panels.tsx'
import { Listing } from '../ui/rows.tsx'
import { Signed, Time } from '../ui/values.tsx'
import { t } from '../words/translate.ts'
import { mayAs, transfersQuery, type OfPublisher } from './queries.ts'

const TRANSFER = '/publishers/{publisherId}/transfers/{transferId}'

type Transfer = Data<'/publishers/{publisherId}/transfers'>['transfers'][number]

/** Packs that are offered to a publisher, or that it has offered; owners decide. */
export const Transfers = ({ id, role }: OfPublisher) => {
  const offers = useQuery({ ...transfersQuery(id), select: ({ transfers }) => transfers })
  const isOwner = mayAs(role, 'owner')
  return (
    <Listing
      label={t('Transfers')}
      query={offers}
      empty={t('No packs are offered to this publisher, or by it')}
      columns={{
        [t('Pack')]: ({ node_id: node }) => <Link {...nodePage(node)}>{node}</Link>,
        [t('From')]: ({ from }) => <Link {...publisherPage(from)}>{from}</Link>,
        [t('To')]: ({ to }) => <Link {...publisherPage(to)}>{to}</Link>,
        [t('Offered')]: ({ asked_at: at, asked_by: by }) => <Signed at={at} by={by} />,
        [t('Until')]: ({ expires_at: at }) => <Time at={at} />,
        '': (offer) => isOwner && <Decide publisherId={id} offer={offer} />,
      }}
    />
  )
}

const Decide = ({ publisherId, offer }: { publisherId: string; offer: Transfer }) => {
  const { id: transferId, node_id: node, to } = offer
  const path = { publisherId, transferId }
  const isOurs = to !== publisherId
  return (
    <Row>
      {!isOurs && (
        <AskButton
          label={t('Accept')}
          title={t('Accept {node}?', { node })}
          write={() => send('POST', `${TRANSFER}/accept`, { path })}
        >
          <p>{t('The pack and all its versions then belong to {publisherId}.', { publisherId })}</p>
        </AskButton>
      )}
      <AskButton
        label={isOurs ? t('Withdraw') : t('Decline')}
        title={
          isOurs
            ? t('Withdraw the offer of {node}?', { node })
            : t('Decline the offer of {node}?', { node })
        }
        write={() => send('DELETE', TRANSFER, { path })}
      />
    </Row>
  )
}
