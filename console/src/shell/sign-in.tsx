import { useQuery } from '@tanstack/react-query'

import { serviceQuery, useWrite } from '../api/queries.ts'
import { listDevelopmentUsers, signIn, signInAs } from '../api/session.ts'
import { Button } from '../ui/button.tsx'
import { Row } from '../ui/page.tsx'
import { ErrorPanel, Note } from '../ui/panels.tsx'
import styles from './frame.module.css'

/** How one signs in here: at the issuer, or on the embedded stack as one of its users. */
export const SignIn = () => {
  const { data: service } = useQuery(serviceQuery)
  if (service === undefined) return null
  if (service.development) return <DevelopmentUsers />
  if (service.client_id === undefined)
    return <Note>Signing in is not set up. An operator sets CONSOLE_CLIENT_ID.</Note>
  return <AtIssuer host={URL.canParse(service.issuer) ? new URL(service.issuer).host : ''} />
}

const AtIssuer = ({ host }: { host: string }) => {
  const leave = useWrite(() => signIn())
  return (
    <div className={styles.signin}>
      <Button look="primary" onPress={() => leave.press()} isPending={leave.isPending}>
        Sign in at {host}
      </Button>
      {leave.error && <ErrorPanel error={leave.error} />}
    </div>
  )
}

const DevelopmentUsers = () => {
  const { data: users = [] } = useQuery({
    queryKey: ['development-users'],
    queryFn: listDevelopmentUsers,
    staleTime: Infinity,
  })
  const choose = useWrite((user: string) => signInAs(user))
  return (
    <div className={styles.signin}>
      <Row>
        {users.map(({ user, platform_admin: isAdmin }) => (
          <Button key={user} onPress={() => choose.press(user)} isPending={choose.isPending}>
            Sign in as {user}
            {isAdmin && ' (platform admin)'}
          </Button>
        ))}
      </Row>
      {choose.error && <ErrorPanel error={choose.error} />}
    </div>
  )
}
