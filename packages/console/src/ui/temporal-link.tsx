import { useQuery } from '@tanstack/react-query'

import { readQuery } from '../api/client.ts'
import { useMe } from '../api/queries.ts'
import { t } from '../words/translate.ts'
import { OutLink } from './link.tsx'

/** A platform admin's link to a workflow in the Temporal UI, where the service has one. */
export const TemporalLink = ({ workflow }: { workflow: string }) => {
  const isAdmin = useMe()?.isAdmin === true
  const query = readQuery('/admin/operations', {}, { staleTime: Infinity })
  const list = useQuery({ ...query, enabled: isAdmin }).data?.temporal.ui_url
  return list && <OutLink href={`${list}/${encodeURIComponent(workflow)}`}>{t('Temporal')}</OutLink>
}
