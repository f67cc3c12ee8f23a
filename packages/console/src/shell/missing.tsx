import type { ErrorComponentProps } from '@tanstack/react-router'

import { LinkButton } from '../ui/link.tsx'
import { Empty, ErrorPanel, PageTitle } from '../ui/panels.tsx'

export const MissingPage = () => (
  <>
    <PageTitle>There is no such page</PageTitle>
    <Empty>
      <p>The address leads to nothing in this console.</p>
      <LinkButton to="/">Home</LinkButton>
    </Empty>
  </>
)

/** A page that broke; the frame around it stays. */
export const CrashPage = ({ error, reset }: ErrorComponentProps) => (
  <>
    <PageTitle>This page broke</PageTitle>
    <ErrorPanel error={error} onRetry={reset} />
  </>
)
