import { useQuery } from '@tanstack/react-query'
import { Outlet, useMatches, useNavigate, useRouterState } from '@tanstack/react-router'
import { Ellipsis, UserRound, type LucideIcon } from 'lucide-react'
import { Suspense, useState, type ReactNode } from 'react'
import { Button as PlainButton } from 'react-aria-components/Button'

import { creditsQuery, serviceQuery, useIsPublic, useMe } from '../api/queries.ts'
import { session, signOut } from '../api/session.ts'
import { useStore } from '../api/store.ts'
import { useTaskToken } from '../api/task-token.ts'
import { Button } from '../ui/button.tsx'
import { LaterMenu } from '../ui/later-menu.tsx'
import type { MenuItem } from '../ui/layers.tsx'
import { Link, LinkButton } from '../ui/link.tsx'
import { Loading, PageTitle, Stack } from '../ui/panels.tsx'
import { aboutCredits } from '../words/text.ts'
import { t } from '../words/translate.ts'
import { Banner, SessionEnd } from './banner.tsx'
import styles from './frame.module.css'
import { useKeys } from './keys.ts'
import { lazyPart } from './lazy-page.ts'
import { PackSearch } from './pack-search.tsx'
import { PAGES, TAB_ICONS, usePages, type PageLinkSpec } from './pages.ts'
import { SignIn } from './sign-in.tsx'
import { showToast, Toasts } from './toasts.tsx'

/** Frame around every page. */
export const Frame = () => {
  const pages = usePages()
  return (
    <>
      <a className={`hidden-text ${styles.skip}`} href="#main">
        {t('Skip to the page')}
      </a>
      <header className={`row ${styles.bar}`}>
        <Link to="/" className={`row ${styles.brand}`} aria-label={t('Kiln, home')}>
          <Mark />
          {t('Kiln')}
        </Link>
        <nav className={`screen ${styles.pages}`} aria-label={t('Pages')}>
          {pages.slice(1).map(({ to, title }) => (
            <PageLink key={to} to={to}>
              {title}
            </PageLink>
          ))}
          <a href="/docs/overview">{t('Docs')}</a>
        </nav>
        <RegistrySearch />
        <UserMenu />
      </header>
      <Banner />
      <SessionEnd />
      <main id="main" className={styles.main} tabIndex={-1}>
        <Guard />
      </main>
      <nav className={`phone ${styles.tabs}`} aria-label={t('Pages')}>
        {TAB_ICONS.map((Icon, place) => (
          <TabLink key={place} page={PAGES[place]} Icon={Icon} />
        ))}
        <LaterMenu
          label={t('More pages')}
          trigger={
            <PlainButton className="bare">
              <Ellipsis aria-hidden />
              {t('More')}
            </PlainButton>
          }
        >
          {(Item) => (
            <>
              {pages.slice(TAB_ICONS.length).map(({ to, title }) => (
                <PageItem key={to} Item={Item} to={to} title={title} />
              ))}
              <PageItem Item={Item} to="/account" title={t('Account')} />
              <Item href="/docs/overview">{t('Docs')}</Item>
            </>
          )}
        </LaterMenu>
      </nav>
      <Toasts />
      <Layers />
    </>
  )
}

/** The drawing of icon.svg, for which a header need not wait. */
const Mark = () => (
  <svg viewBox="0 0 32 32" width={24} height={24} aria-hidden>
    <rect width="32" height="32" rx="6" fill="#a8420b" />
    <path d="M8 26V15a8 8 0 0 1 16 0v11h-5v-6a3 3 0 0 0-6 0v6z" fill="#fff" />
  </svg>
)

const TabLink = ({ page, Icon }: { page: PageLinkSpec | undefined; Icon: LucideIcon }) =>
  page && (
    <PageLink to={page.to}>
      <Icon aria-hidden />
      {page.title}
    </PageLink>
  )

type PagePath = PageLinkSpec['to']

const PageLink = ({ to, children }: { to: PagePath; children: ReactNode }) => (
  <Link to={to} activeOptions={{ exact: to === '/', includeSearch: false }}>
    {children}
  </Link>
)

interface PageItemProps {
  Item: typeof MenuItem
  to: PagePath | '/account'
  title: string
}

const PageItem = ({ Item, to, title }: PageItemProps) => {
  const navigate = useNavigate()
  return <Item onAction={() => void navigate({ to })}>{title}</Item>
}

// Most visits open neither.
const Commands = lazyPart(async () => (await import('./commands.tsx')).Commands)
const KeyHelp = lazyPart(async () => (await import('./commands.tsx')).KeyHelp)

/** The keys that hold everywhere, and what two of them open. */
const Layers = () => {
  const [open, setOpen] = useState<'commands' | 'help'>()
  const navigate = useNavigate()
  const ways = usePages().map(
    ({ to, letter }) => [`g ${letter}`, () => void navigate({ to })] as const,
  )
  useKeys({
    ...Object.fromEntries(ways),
    '?': () => setOpen('help'),
    '/': () => document.querySelector<HTMLElement>('input[type=search]')?.focus(),
    'Ctrl k': () => setOpen('commands'),
  })
  const close = (): void => setOpen(undefined)
  return (
    <Suspense>
      {open === 'help' && <KeyHelp onClose={close} />}
      {open === 'commands' && <Commands onHelp={() => setOpen('help')} onClose={close} />}
    </Suspense>
  )
}

const RegistrySearch = () => {
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const { user } = useStore(session)
  const isReadable = useIsPublic() !== false || user !== undefined
  // The page of the registry has a field of its own.
  if (path === '/registry' || !isReadable) return <div className={styles.search} />
  return <PackSearch label={t('Search the registry')} className={styles.search} />
}

/** Credits used for videos, and their limit; leads to the account, which says more. */
const Credits = () => {
  const [credits] = useQuery(creditsQuery).data?.remains ?? []
  if (!credits || (credits.credit_remain === null && credits.credit_used === 0)) return null
  return (
    <Link to="/account" search={{ tab: 'usage' }} className={`${styles.credits} small`}>
      {aboutCredits(credits)}
    </Link>
  )
}

const UserMenu = () => {
  const { user, starting } = useStore(session)
  const navigate = useNavigate()
  if (starting) return null
  if (user === undefined) return <LinkButton to="/account">{t('Sign in')}</LinkButton>
  // Home is for all; many a page is not.
  const leave = async (): Promise<void> => {
    await navigate({ to: '/' })
    await signOut()
    showToast(t('You are signed out'))
  }
  return (
    <>
      <Credits />
      <LaterMenu
        label={t('Account')}
        trigger={
          <Button variant="quiet" aria-label={t('Signed in as {user}', { user })}>
            <UserRound aria-hidden />
            <bdi>{user}</bdi>
          </Button>
        }
      >
        {(Item) => (
          <>
            <PageItem Item={Item} to="/account" title={t('Account')} />
            <Item onAction={() => void leave()}>{t('Sign out')}</Item>
          </>
        )}
      </LaterMenu>
    </>
  )
}

/** Shows the page to those who may see it; others read who may. */
const Guard = () => {
  const { user, starting } = useStore(session)
  const me = useMe()
  const isPublic = useIsPublic()
  const token = useTaskToken()
  const { who = 'all', title = '' } = useMatches().at(-1)?.staticData ?? {}
  const samples = useQuery(serviceQuery).data?.samples
  const isOpen =
    who === 'all' ||
    (who === 'reader' && isPublic === true) ||
    (who === 'guest' && !starting && samples === true) ||
    (who === 'holder' && token !== undefined)
  const isInside = user !== undefined && (who !== 'admin' || me?.isAdmin === true)
  if (isOpen || isInside) return <Outlet />
  const isKnown = !starting && (who !== 'reader' || isPublic !== undefined)
  if (!isKnown || (user !== undefined && me === undefined)) return <Loading rows={5} />
  return (
    <>
      <PageTitle>{user === undefined ? t('Sign in') : title}</PageTitle>
      {user === undefined ? (
        <Stack>
          <p>
            {who === 'admin'
              ? t('Sign in as a platform admin to open {title}.', { title })
              : t('Sign in to open {title}.', { title })}
          </p>
          <SignIn />
        </Stack>
      ) : (
        <p>
          {t('Only platform admins can see this page. An operator names them in ADMIN_SUBJECTS.')}
        </p>
      )}
    </>
  )
}
