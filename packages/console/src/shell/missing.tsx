import type { ErrorComponentProps } from '@tanstack/react-router'

import { LinkButton } from '../ui/link.tsx'
import { Empty, ErrorPanel, PageTitle } from '../ui/panels.tsx'

export const MissingPage = () => (
  <>
    <PageTitle>Page not found</PageTitle>
    <Empty>
      <p>This address does not exist. Check it, or start from Home.</p>
      <LinkButton to="/">Home</LinkButton>
    </Empty>
  </>
)

/** A page that broke; the frame around it stays. */
export const CrashPage = ({ error, reset }: ErrorComponentProps) => (
  <>
    <PageTitle>Something went wrong on this page</PageTitle>
    <ErrorPanel error={error} onRetry={reset} />
  </>
)
