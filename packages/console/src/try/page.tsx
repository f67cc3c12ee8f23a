import { useQuery } from '@tanstack/react-query'
import { Navigate, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { Clapperboard, Maximize2, ScanFace, Sun } from 'lucide-react'
import { useEffect } from 'react'

import { keepDraft, session } from '../api/session.ts'
import { useStore } from '../api/store.ts'
import { taskQuery } from '../tasks/queries.ts'
import { Link, tryPage } from '../ui/link.tsx'
import { Empty, ErrorPanel, Loading, PageTitle, Show } from '../ui/panels.tsx'
import { readFields, startFrom } from './form.ts'
import { FAMILIES, findKind, type Kind } from './kinds.ts'
import { documentQuery } from './queries.ts'
import { schemaOf, type JsonSchema } from './schema.ts'
import { TryForm } from './try-form.tsx'
import styles from './try.module.css'

const ICONS = { Relight: Sun, Upscale: Maximize2, Skin: ScanFace, Video: Clapperboard }

export const Page = () => {
  const { kind: id } = useParams({ strict: false })
  const document = useQuery(documentQuery)
  const kind = findKind(id)
  if (id === undefined) return <Navigate {...tryPage('relight')} search={true} replace />
  return (
    <>
      <PageTitle>Try</PageTitle>
      <Kinds id={id} />
      {kind ? (
        <Show query={document} loading={<Loading rows={6} />}>
          {(read) => {
            const schema = schemaOf(read, kind.path)
            return schema && <Started kind={kind} schema={schema} />
          }}
        </Show>
      ) : (
        <Empty>Unknown task type. Pick one above.</Empty>
      )}
    </>
  )
}

/** Kinds as tiles, and below them the variants of the chosen one. */
const Kinds = ({ id }: { id: string }) => {
  const variants = Object.entries(Object.values(FAMILIES).find((one) => id in one) ?? {})
  return (
    <nav aria-label="Task type" className={`stack tight ${styles.kinds}`}>
      <ul className={styles.tiles}>
        {Object.entries(ICONS).map(([name, Icon]) => {
          const ids = Object.keys(FAMILIES[name] ?? {})
          return (
            <li key={name}>
              <Link {...tryPage(ids.includes(id) ? id : (ids[0] ?? ''))} className={styles.tile}>
                <Icon aria-hidden />
                {name}
              </Link>
            </li>
          )
        })}
      </ul>
      {variants.length > 1 && (
        <ul className="row">
          {variants.map(([one, name]) => (
            <li key={one}>
              <Link {...tryPage(one)} className={styles.variant}>
                {name}
              </Link>
            </li>
          ))}
        </ul>
      )}
    </nav>
  )
}

/** The form, filled from the task that the address names: that becomes the draft, and the address is as ever. */
const Started = ({ kind, schema }: { kind: Kind; schema: JsonSchema }) => {
  const { from, use } = useSearch({ strict: false })
  const { user = '' } = useStore(session)
  const navigate = useNavigate()
  const fields = readFields(schema)
  const { data, error } = useQuery({ ...taskQuery(from ?? ''), enabled: from !== undefined })
  useEffect(() => {
    if (from === undefined || !data) return
    keepDraft(user, kind.id, { body: startFrom({ id: kind.id, use }, fields, data) })
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
