import type { ErrorComponentProps } from '@tanstack/react-router'

import { LinkButton } from '../ui/link.tsx'
import { Empty, ErrorPanel, PageTitle } from '../ui/panels.tsx'
import { t } from '../words/translate.ts'

export const MissingPage = () => (
  <>
    <PageTitle>{t('Page not found')}</PageTitle>
    <Empty>
      <p>{t('This address does not exist. Check it, or start from Home.')}</p>
      <LinkButton to="/">{t('Home')}</LinkButton>
    </Empty>
  </>
)

/** A page that broke; the frame around it stays. */
export const CrashPage = ({ error, reset }: ErrorComponentProps) => (
  <>
    <PageTitle>{t('Something went wrong on this page')}</PageTitle>
    <ErrorPanel error={error} onRetry={reset} />
  </>
)
