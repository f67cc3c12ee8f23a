import './tokens.css'

import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { I18nProvider } from 'react-aria-components/I18nProvider'

import { onBack } from './api/health.ts'
import { makeQueryClient, serviceQuery } from './api/queries.ts'
import { session, startSession } from './api/session.ts'
import { router } from './routes.tsx'
import { showTheme } from './shell/settings.ts'
import { language, locale } from './words/language.ts'

/** React Aria empties the box of its announcer by `innerHTML = ''`; nothing else may write HTML. */
const allowNoHtml = (): void => {
  const { trustedTypes } = window as { trustedTypes?: TrustedTypes }
  trustedTypes?.createPolicy('default', { createHTML: (html) => (html === '' ? '' : null) })
}

interface TrustedTypes {
  createPolicy(name: string, rules: { createHTML(html: string): string | null }): unknown
}

const isOfAll = ({ queryKey }: { queryKey: readonly unknown[] }): boolean =>
  ['service', 'signed-in', 'development-users'].includes(String(queryKey[0]))

/** Drops what was read as one user before it could be shown to another. */
function dropWhatOthersSaw(): void {
  let { user } = session.get()
  session.subscribe(() => {
    const next = session.get().user
    if (next === user) return
    user = next
    // It would be asked for once more before anything knows that nobody is signed in.
    if (next === undefined) queries.removeQueries({ queryKey: ['users'] })
    queries.removeQueries({ type: 'inactive', predicate: (query) => !isOfAll(query) })
    void queries.resetQueries({ predicate: (query) => !isOfAll(query) })
  })
}

allowNoHtml()
showTheme()
document.documentElement.lang = language

const queries = makeQueryClient()
onBack(() => void queries.invalidateQueries())
dropWhatOthersSaw()
void queries.fetchQuery(serviceQuery).then(startSession)

createRoot(document.querySelector('#root') as Element).render(
  <StrictMode>
    <I18nProvider locale={locale}>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </I18nProvider>
  </StrictMode>,
)
