import { useQuery } from '@tanstack/react-query'
import { Navigate, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useEffect } from 'react'

import { keepDraft } from '../api/drafts.ts'
import { session } from '../api/session.ts'
import { useStore } from '../api/store.ts'
import { taskQuery } from '../tasks/queries.ts'
import { Select } from '../ui/fields.tsx'
import { LinkButton } from '../ui/link.tsx'
import { PageTitle } from '../ui/page.tsx'
import { Empty, ErrorPanel, Loading, Show } from '../ui/panels.tsx'
import { readFields } from './form.ts'
import { KINDS } from './kinds.ts'
import type { Kind } from './kinds.ts'
import { documentQuery } from './queries.ts'
import { schemaOf } from './schema.ts'
import type { JsonSchema } from './schema.ts'
import { startFrom } from './start.ts'
import styles from './try.module.css'
import { TryForm } from './try-form.tsx'

const OPTIONS = KINDS.map(({ id, title }) => ({ value: id, label: title }))

export const TryPage = () => {
  const { kind: id } = useParams({ strict: false })
  const navigate = useNavigate()
  const document = useQuery(documentQuery)
  const kind = KINDS.find((known) => known.id === id)
  if (id === undefined)
    return <Navigate to="/try/$kind" params={{ kind: 'relight' }} search={true} replace />
  if (!kind) return <UnknownKind />
  const choice = (
    <div className={styles.kind}>
      <Select
        label="Kind"
        isLabelHidden
        options={OPTIONS}
        value={id}
        onChange={(next) => void navigate({ to: '/try/$kind', params: { kind: next } })}
      />
    </div>
  )
  return (
    <>
      <PageTitle extra={choice}>Try</PageTitle>
      <Show query={document} loading={<Loading rows={6} />}>
        {(read) => {
          const schema = schemaOf(read, kind.path)
          return schema ? <Started kind={kind} schema={schema} /> : <UnknownKind />
        }}
      </Show>
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

const UnknownKind = () => (
  <>
    <PageTitle>No such kind</PageTitle>
    <Empty>
      <p>Kiln makes no task of this kind.</p>
      <LinkButton to="/try">Try another</LinkButton>
    </Empty>
  </>
)
