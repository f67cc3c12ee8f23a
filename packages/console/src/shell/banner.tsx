import { useQuery } from '@tanstack/react-query'
import { Suspense } from 'react'

import type { Data } from '../api/client.ts'
import { health } from '../api/health.ts'
import { serviceQuery } from '../api/queries.ts'
import { session, signIn, signInAs, signOut } from '../api/session.ts'
import { useStore } from '../api/store.ts'
import { Button } from '../ui/button.tsx'
import { Bdi, useNow } from '../ui/values.tsx'
import { showClock } from '../words/language.ts'
import { t } from '../words/translate.ts'
import styles from './frame.module.css'
import { lazyPart } from './lazy-page.ts'

/** Short breaks are not worth a word. */
const QUIET_MS = 2000

/** Says that the service is away, that tasks wait, or that there is a newer page. */
export const Banner = () => {
  const { awaySince } = useStore(health)
  return awaySince === undefined ? <NotifyChange /> : <Away since={awaySince} />
}

const Away = ({ since }: { since: number }) => {
  const now = useNow()
  const { nextAt = now } = useStore(health)
  if (now - since < QUIET_MS) return null
  const seconds = Math.max(1, Math.ceil((nextAt - now) / 1000))
  return (
    <div className={`row ${styles.banner} warn`} role="status">
      {t('Kiln does not respond; trying again in {seconds} s. What is shown is as of {time}.', {
        seconds,
        time: showClock(since),
      })}
    </div>
  )
}

/** The build that the page was loaded from, or first heard of. */
let known: string | undefined
const firstBuild = (build: string): string => (known ??= build)

const NotifyChange = () => {
  const { data } = useQuery(serviceQuery)
  if (data === undefined) return null
  if (data.build === firstBuild(data.build)) return <Paused paused={data.paused ?? []} />
  return (
    <div className={`row ${styles.banner} info`} role="status">
      {t('A new version is here.')}
      <Button onPress={() => location.reload()}>{t('Reload')}</Button>
    </div>
  )
}

/** Says to callers why their tasks do not begin. */
const Paused = ({ paused }: { paused: NonNullable<Data<'/service'>['paused']> }) => {
  const [first] = paused
  if (!first) return null
  const { kind = '' } = first
  const what =
    first.what === 'all'
      ? t('Tasks are paused and will continue later.')
      : kind
        ? t('Tasks of {kind} are paused and will continue later.', { kind })
        : t('Some tasks are paused and will continue later.')
  return (
    <div className={`row ${styles.banner} warn`} role="status">
      {what} <Bdi>{first.reason}</Bdi>
    </div>
  )
}

const signInAgain = (user: string): void => {
  void signInAs(user).catch(() => signIn())
}

// Few sessions end while somebody looks.
const Dialog = lazyPart(async () => (await import('../ui/layers.tsx')).Dialog)

/** A notice before a session ends that cannot be renewed, and what is to be done once it has. */
export const SessionEnd = () => {
  const { user = '', endsAt, ended, isLate } = useStore(session)
  const now = useNow()
  if (ended === true || (endsAt !== undefined && now >= endsAt))
    return (
      <Suspense>
        <Dialog
          title={t('Your session has ended')}
          onClose={() => void signOut()}
          actions={
            <Button variant="primary" onPress={() => signInAgain(user)}>
              {t('Sign in again')}
            </Button>
          }
        >
          <p>{t('What you have typed is kept. Cancel signs you out.')}</p>
        </Dialog>
      </Suspense>
    )
  if (isLate)
    return (
      <div className={`row ${styles.banner} warn`} role="status">
        {t('Your session cannot be renewed right now. Trying again.')}
      </div>
    )
  if (endsAt === undefined) return null
  return (
    <div className={`row ${styles.banner} warn`} role="status">
      {t('Your session ends in {endsAt} s.', { endsAt: Math.ceil((endsAt - now) / 1000) })}
      <Button onPress={() => void signIn()}>{t('Sign in again')}</Button>
    </div>
  )
}
