import { useQuery } from '@tanstack/react-query'

import { serviceQuery } from '../api/queries.ts'
import { listDevelopmentUsers, signInAs } from '../api/session.ts'
import { Button } from '../ui/button.tsx'
import { Row } from '../ui/page.tsx'
import { ErrorPanel, Note } from '../ui/panels.tsx'
import { useWrite } from '../api/queries.ts'
import styles from './frame.module.css'

/** How one signs in here: at the issuer, or on the embedded stack as one of its users. */
export const SignIn = () => {
  const { data: service } = useQuery(serviceQuery)
  const { data: users } = useQuery({
    queryKey: ['development-users'],
    queryFn: listDevelopmentUsers,
    staleTime: Infinity,
  })
  const signIn = useWrite((user: string) => signInAs(user))
  if (users === undefined) return null
  if (users.length === 0 && !service?.client_id)
    return <Note>Signing in is not set up: an operator sets CONSOLE_CLIENT_ID.</Note>
  return (
    <div className={styles.signin}>
      <Row>
        {users.map(({ user, platform_admin: isAdmin }) => (
          <Button key={user} onPress={() => signIn.press(user)} isPending={signIn.isPending}>
            Sign in as {user}
            {isAdmin && ' (platform admin)'}
          </Button>
        ))}
      </Row>
      {signIn.error && <ErrorPanel error={signIn.error} />}
    </div>
  )
}
