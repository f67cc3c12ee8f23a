import { useMutation, useQuery } from '@tanstack/react-query'

import { serviceQuery } from '../api/queries.ts'
import { listDevelopmentUsers, signIn, signInAs } from '../api/session.ts'
import { Button } from '../ui/button.tsx'
import { ErrorPanel, Note, Row, Stack } from '../ui/panels.tsx'
import { t } from '../words/translate.ts'

/** Users of a development server; of any other none. */
export const useDevelopmentUsers = () => {
  const { data: service } = useQuery(serviceQuery)
  const { data = [] } = useQuery({
    queryKey: ['development-users'],
    queryFn: listDevelopmentUsers,
    staleTime: Infinity,
    enabled: service?.development === true,
  })
  return data
}

/** Sign-in at the issuer, or on the embedded stack as one of its users. */
export const SignIn = () => {
  const { data: service } = useQuery(serviceQuery)
  const enabled = service?.development === true
  const users = useDevelopmentUsers()
  const enter = useMutation({
    mutationFn: (user?: string) => (user === undefined ? signIn() : signInAs(user)),
  })
  if (service === undefined) return null
  if (!enabled && service.client_id === undefined)
    return <Note>{t('Signing in is not set up. An operator sets CONSOLE_CLIENT_ID.')}</Note>
  const host = URL.canParse(service.issuer) ? new URL(service.issuer).host : ''
  return (
    <Stack>
      {enabled && <p>{t('Users of this development server: no password.')}</p>}
      <Row>
        {enabled ? (
          users.map(({ user, platform_admin: isAdmin }) => (
            <Button key={user} onPress={() => enter.mutate(user)} isPending={enter.isPending}>
              {isAdmin
                ? t('Sign in as {user} (platform admin)', { user })
                : t('Sign in as {user}', { user })}
            </Button>
          ))
        ) : (
          <Button
            variant="primary"
            onPress={() => enter.mutate(undefined)}
            isPending={enter.isPending}
          >
            {t('Sign in at {host}', { host })}
          </Button>
        )}
      </Row>
      {enter.error && <ErrorPanel error={enter.error} />}
    </Stack>
  )
}
