import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'

import type { Schema } from '../api/client.ts'
import { publisherQuery } from '../publish/queries.ts'
import { Link, publisherPage, versionPage } from '../ui/link.tsx'
import { wordsOf } from '../words/states.ts'
import { t } from '../words/translate.ts'

type Content = Schema<'VersionFindings'>['same_content']

const SHOWN = 5

/** A line of links to what a decision may concern, too; nothing where there are none. */
const Related = ({ label, links }: { label: string; links: readonly ReactNode[] }) =>
  links.length > 0 && (
    <p>
      {label}: {links.slice(0, SHOWN)}
      {links.length > SHOWN && t('and {count} more', { count: links.length - SHOWN })}
    </p>
  )

/** Other versions with the same files; each is decided on by itself. */
export const SameContent = ({ of = [] }: { of: Content }) => (
  <Related
    label={t('Same files in')}
    links={of.map(({ node_id: id, version, status }) => (
      <span key={`${id}@${version}`}>
        <Link {...versionPage(id, version)}>{`${id} ${version}`}</Link> ({wordsOf(status).word}
        ){' '}
      </span>
    ))}
  />
)

/** Banned publishers that a member of this one belongs to; the service names them to platform admins alone. */
export const BannedPublishers = ({ id }: { id: string }) => (
  <Related
    label={t('A member belongs to banned publishers')}
    links={(useQuery(publisherQuery(id)).data?.banned_publishers ?? []).map((banned) => (
      <span key={banned}>
        <Link {...publisherPage(banned)}>{banned}</Link>{' '}
      </span>
    ))}
  />
)
