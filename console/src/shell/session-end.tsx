import { session, signIn, signInAs, signOut } from '../api/session.ts'
import { useStore } from '../api/store.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { useNow } from '../ui/values.tsx'
import styles from './frame.module.css'

const signInAgain = (user: string): void => {
  void signInAs(user).catch(() => signIn())
}

/** A notice before a session ends that cannot be renewed, and what is to be done once it has. */
export const SessionEnd = () => {
  const { user = '', endsAt, ended } = useStore(session)
  const now = useNow()
  const isOver = ended === true || (endsAt !== undefined && now >= endsAt)
  if (!isOver && endsAt === undefined) return null
  if (isOver)
    return (
      <Dialog
        title="Your session has ended"
        isOpen
        onClose={() => void signOut()}
        actions={
          <Button look="primary" onPress={() => signInAgain(user)}>
            Sign in again
          </Button>
        }
      >
        <p>What you have typed is kept. Cancel signs you out.</p>
      </Dialog>
    )
  return (
    <div className={styles.banner} role="status">
      Your session ends in {Math.ceil(((endsAt ?? now) - now) / 1000)} s.
      <Button onPress={() => void signIn()}>Sign in again</Button>
    </div>
  )
}
