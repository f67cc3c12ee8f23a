import { createLink, type LinkComponent } from '@tanstack/react-router'
import { ExternalLink as OutIcon } from 'lucide-react'
import type { ComponentProps, ReactNode } from 'react'

import { httpsLink } from '../api/links.ts'
import { t } from '../words/translate.ts'
import { buttonClass, type ButtonProps } from './button.tsx'
import { Bdi } from './values.tsx'

const Anchor = ({ children, ...props }: ComponentProps<'a'>) => (
  <a {...props}>{typeof children === 'string' ? <Bdi>{children}</Bdi> : children}</a>
)

/** A link within the console: `<Link {...taskPage(id)}>`, whose text may be a stranger's. Lazy pages are fetched at hover and focus. */
export const Link: LinkComponent<typeof Anchor> = createLink(Anchor)

type ButtonAnchorProps = ComponentProps<'a'> & Pick<ButtonProps, 'variant'>

const ButtonAnchor = ({ variant, ...props }: ButtonAnchorProps) => (
  <Anchor {...props} className={buttonClass(variant)} />
)

/** A link that looks like a button. */
export const LinkButton: LinkComponent<typeof ButtonAnchor> = createLink(ButtonAnchor)

/** Targets of links: `<Link {...versionPage('light-tools', '1.0.0')}>`. */
export const taskPage = (task: string) => ({ to: '/tasks/$task', params: { task } }) as const
/** `from`: the task that it repeats, or with `use` whose result it takes; `example`: that of the first page. */
export const tryPage = (kind: string, from?: string, use?: 'result' | 'example') =>
  ({ to: '/try/$kind', params: { kind }, search: { from, use } }) as const
export const nodePage = (node: string) => ({ to: '/registry/$node', params: { node } }) as const
export const versionPage = (node: string, version: string) =>
  ({ to: '/registry/$node/$version', params: { node, version } }) as const
export const comparisonPage = (node: string, from: string, to: string) =>
  ({ to: '/registry/$node/compare/$range', params: { node, range: `${from}...${to}` } }) as const
export const publisherPage = (publisher: string) =>
  ({ to: '/publishers/$publisher', params: { publisher } }) as const
export const publishPage = (publisher: string) =>
  ({ to: '/publishers/$publisher/publish', params: { publisher } }) as const

/** An address that a stranger gave: a link when it is https, with its host; else its text. */
export const StrangersLink = ({ address, children }: { address: string; children?: ReactNode }) => {
  const url = httpsLink(address)
  if (url === undefined) return <Bdi>{address}</Bdi>
  const path = url.pathname === '/' ? '' : url.pathname
  return (
    <a href={url.href} target="_blank" rel="noopener noreferrer nofollow ugc">
      {children} <Bdi>{children ? `(${url.host})` : url.host + path}</Bdi>
    </a>
  )
}

/** A link out of the console that the service itself gave, such as the Temporal UI or the documents. */
export const OutLink = ({ href, children }: { href: string; children: ReactNode }) => (
  <a href={href} target="_blank" rel="noopener noreferrer">
    {children}{' '}
    <OutIcon aria-label={t('(new tab)')} style={{ display: 'inline', width: 12, height: 12 }} />
  </a>
)
