import { useQuery } from '@tanstack/react-query'
import { Navigate, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useEffect } from 'react'

import { keepDraft, session } from '../api/session.ts'
import { useStore } from '../api/store.ts'
import { taskQuery } from '../tasks/queries.ts'
import { Select } from '../ui/fields.tsx'
import { tryPage } from '../ui/link.tsx'
import { Empty, ErrorPanel, Loading, PageTitle, Show } from '../ui/panels.tsx'
import { readFields, startFrom } from './form.ts'
import { KINDS, type Kind } from './kinds.ts'
import { documentQuery } from './queries.ts'
import { schemaOf, type JsonSchema } from './schema.ts'
import { TryForm } from './try-form.tsx'
import styles from './try.module.css'

const OPTIONS = KINDS.map(({ id, title }) => [id, title] as const)

export const Page = () => {
  const { kind: id } = useParams({ strict: false })
  const navigate = useNavigate()
  const document = useQuery(documentQuery)
  const kind = KINDS.find((known) => known.id === id)
  if (id === undefined) return <Navigate {...tryPage('relight')} search={true} replace />
  const choice = (
    <div className={styles.kind}>
      <Select
        label="Kind"
        isLabelHidden
        options={OPTIONS}
        value={kind?.id}
        onChange={(next) => void navigate(tryPage(next))}
      />
    </div>
  )
  return (
    <>
      <PageTitle extra={choice}>Try</PageTitle>
      {kind ? (
        <Show query={document} loading={<Loading rows={6} />}>
          {(read) => {
            const schema = schemaOf(read, kind.path)
            return schema && <Started kind={kind} schema={schema} />
          }}
        </Show>
      ) : (
        <Empty>Kiln makes no task of this kind. Choose one above.</Empty>
      )}
    </>
  )
}

/** The form, filled from the task that the address names: that becomes the draft, and the address is as ever. */
const Started = ({ kind, schema }: { kind: Kind; schema: JsonSchema }) => {
  const { from } = useSearch({ strict: false })
  const { user = '' } = useStore(session)
  const navigate = useNavigate()
  const fields = readFields(schema)
  const { data, error } = useQuery({ ...taskQuery(from ?? ''), enabled: from !== undefined })
  useEffect(() => {
    if (from === undefined || !data) return
    keepDraft(user, kind.id, { body: startFrom(kind, fields, data) })
    void navigate({ to: '.', search: { view: undefined }, replace: true })
  })
  if (from !== undefined && !error) return <Loading rows={6} />
  return (
    <>
      {from !== undefined && error && <ErrorPanel error={error} />}
      <TryForm key={`${user} ${kind.id}`} {...{ user, kind, schema, fields }} />
    </>
  )
}
