import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'

import { serviceQuery } from '../api/queries.ts'
import { returnFromIssuer } from '../api/session.ts'
import { LinkButton } from '../ui/link.tsx'
import { ErrorPanel, Loading, PageTitle } from '../ui/panels.tsx'
import { t } from '../words/translate.ts'

/** The way back from the issuer: the code is exchanged once, and the address with it replaced. */
export const Page = () => {
  const router = useRouter()
  const queries = useQueryClient()
  const { error } = useQuery({
    queryKey: ['signed-in'],
    queryFn: async () => {
      const service = await queries.ensureQueryData(serviceQuery)
      const path = await returnFromIssuer(service, new URL(location.href))
      router.history.replace(path)
      return path
    },
    retry: false,
    staleTime: Infinity,
    gcTime: 0,
  })
  if (error === null) return <Loading />
  return (
    <>
      <PageTitle>{t('Signing in failed')}</PageTitle>
      <ErrorPanel error={error} />
      <br />
      <LinkButton to="/account">{t('Try again')}</LinkButton>
    </>
  )
}
