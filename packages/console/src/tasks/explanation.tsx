import { useQuery } from '@tanstack/react-query'

import { readQuery } from '../api/client.ts'
import { inPlainWords } from '../api/issues.ts'
import { Note, Panel, Show } from '../ui/panels.tsx'
import { Bdi } from '../ui/values.tsx'
import { t } from '../words/translate.ts'

const WATCHED = { refetchInterval: 5000 }

/** Why a task is where it is and what to do next, for admins, as `kiln operate explain` says it. */
export const Explanation = ({ task: id, isOpen }: { task: string; isOpen: boolean }) => {
  const path = { id }
  const query = useQuery(
    readQuery('/admin/tasks/{id}/explanation', { path }, isOpen ? WATCHED : {}),
  )
  return (
    <Panel title={t('For operators')}>
      <Show query={query}>
        {({ findings, next_steps: steps }) => (
          <>
            {steps.map((step) => (
              <Note key={step}>
                <Bdi>{inPlainWords(step)}</Bdi>
              </Note>
            ))}
            <details>
              <summary>{t('What is known')}</summary>
              <ul className="stack tight">
                {findings.map(({ about, text }) => (
                  <li key={text}>
                    <span className="soft">{about}</span> <Bdi>{inPlainWords(text)}</Bdi>
                  </li>
                ))}
              </ul>
            </details>
          </>
        )}
      </Show>
    </Panel>
  )
}
