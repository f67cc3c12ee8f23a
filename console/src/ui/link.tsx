import { createLink } from '@tanstack/react-router'
import type { LinkComponent } from '@tanstack/react-router'
import { ExternalLink as OutIcon } from 'lucide-react'
import type { AnchorHTMLAttributes, ReactNode } from 'react'

import { httpsLink } from '../api/links.ts'
import { buttonClass } from './button.tsx'
import type { ButtonProps } from './button.tsx'
import { Bdi } from './values.tsx'

const Anchor = (props: AnchorHTMLAttributes<HTMLAnchorElement>) => (
  <a {...props}>{props.children}</a>
)

/** A link within the console: `<Link to="/tasks/$task" params={{ task: id }}>`. Lazy pages are fetched at hover and focus. */
export const Link: LinkComponent<typeof Anchor> = createLink(Anchor)

const ButtonAnchor = ({
  look,
  children,
  ...props
}: AnchorHTMLAttributes<HTMLAnchorElement> & { look?: ButtonProps['look'] }) => (
  <a {...props} className={buttonClass(look)}>
    {children}
  </a>
)

/** A link that looks like a button. */
export const LinkButton: LinkComponent<typeof ButtonAnchor> = createLink(ButtonAnchor)

/** An address that a stranger gave: a link when it is https, with its host; else its text. */
export const StrangersLink = ({ address, children }: { address: string; children?: ReactNode }) => {
  const url = httpsLink(address)
  if (url === undefined) return <Bdi>{address}</Bdi>
  return (
    <a href={url.href} target="_blank" rel="noopener noreferrer nofollow ugc">
      {children ? (
        <>
          {children} <Bdi>{`(${url.host})`}</Bdi>
        </>
      ) : (
        <Bdi>{url.host + (url.pathname === '/' ? '' : url.pathname)}</Bdi>
      )}
    </a>
  )
}

/** A link out of the console that the service itself gave, such as the Temporal UI or the documents. */
export const OutLink = ({ href, children }: { href: string; children: ReactNode }) => (
  <a href={href} target="_blank" rel="noopener noreferrer">
    {children}{' '}
    <OutIcon aria-label="(new tab)" style={{ display: 'inline', width: 12, height: 12 }} />
  </a>
)
