import { useQuery } from '@tanstack/react-query'
import { Navigate, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { Clapperboard, Maximize2, ScanFace, Sun, Workflow } from 'lucide-react'
import { useEffect } from 'react'

import { keepDraft, session } from '../api/session.ts'
import { Samples } from '../samples/samples.tsx'
import { useStore } from '../api/store.ts'
import { taskQuery } from '../tasks/queries.ts'
import { Link, tryPage } from '../ui/link.tsx'
import { Empty, ErrorPanel, Loading, PageTitle, Show } from '../ui/panels.tsx'
import { t } from '../words/translate.ts'
import { readFields, startFrom } from './form.ts'
import { FAMILIES, findKind, firstKind, titleOf, type Kind } from './kinds.ts'
import { documentQuery, exampleQuery, templatesQuery } from './queries.ts'
import { schemaOf, type JsonSchema } from './schema.ts'
import { TryForm } from './try-form.tsx'
import styles from './try.module.css'

/** Icons of the families in their order, then that of templates. */
const ICONS = [Sun, Maximize2, ScanFace, Clapperboard, Workflow]

export const Page = () => {
  const { kind } = useParams({ strict: false })
  if (useStore(session).user !== undefined) return <Forms />
  if (kind === undefined) return <Navigate {...tryPage('relight')} search={true} replace />
  return (
    <>
      <PageTitle>{t('Try')}</PageTitle>
      <Kinds id={kind} templates={[]} />
      <Samples key={kind} kind={kind} />
    </>
  )
}

const Forms = () => {
  const { kind: id } = useParams({ strict: false })
  const document = useQuery(documentQuery)
  const templates = useQuery(templatesQuery)
  const kind = findKind(id)
  if (id === undefined)
    return (
      <Show query={templates} loading={<Loading rows={6} />}>
        {(read) => <Navigate {...tryPage(firstKind(read))} search={true} replace />}
      </Show>
    )
  return (
    <>
      <PageTitle>{t('Try')}</PageTitle>
      <Kinds id={id} templates={templates.data?.templates.map(({ kind }) => kind) ?? []} />
      {kind?.argument !== undefined ? (
        <Show query={templates} loading={<Loading rows={6} />}>
          {({ templates: all }) => {
            const schema = all.find((one) => one.kind === id)?.body as JsonSchema | undefined
            if (!schema)
              return <Empty>{t('This template is gone. Tasks made with it go on.')}</Empty>
            return <Started kind={kind} schema={schema} />
          }}
        </Show>
      ) : kind ? (
        <Show query={document} loading={<Loading rows={6} />}>
          {(read) => {
            const schema = schemaOf(read, kind.path)
            return schema && <Started kind={kind} schema={schema} />
          }}
        </Show>
      ) : (
        <Empty>{t('Unknown task type. Pick one above.')}</Empty>
      )}
    </>
  )
}

/** Kinds as tiles, and below them the variants of the chosen one. */
const Kinds = ({ id, templates }: { id: string; templates: readonly string[] }) => {
  const custom = Object.fromEntries(templates.map((one) => [one, titleOf(one)]))
  const families = { ...FAMILIES, [t('Custom')]: custom }
  const variants = Object.entries(Object.values(families).find((one) => id in one) ?? {})
  return (
    <nav aria-label={t('Task type')} className={`stack tight ${styles.kinds}`}>
      <ul className={styles.tiles}>
        {Object.entries(families).map(([name, kinds], place) => {
          const ids = Object.keys(kinds)
          const Icon = ICONS[place]
          if (ids.length === 0 || !Icon) return null
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
      {(variants.length > 1 || id in custom) && (
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
  const isExample = use === 'example' && kind.id === 'relight'
  const isGiven = isExample || from !== undefined
  const example = useQuery({ ...exampleQuery, enabled: isExample })
  const task = useQuery({ ...taskQuery(from ?? ''), enabled: from !== undefined && !isExample })
  const { error } = isExample ? example : task
  useEffect(() => {
    const body = isExample
      ? example.data
      : task.data && startFrom({ id: kind.id, use }, fields, task.data)
    if (!isGiven || !body) return
    keepDraft(user, kind.id, { body })
    void navigate({ to: '.', search: { view: undefined }, replace: true })
  })
  if (isGiven && !error) return <Loading rows={6} />
  return (
    <>
      {isGiven && error && <ErrorPanel error={error} />}
      <TryForm key={`${user} ${kind.id}`} {...{ user, kind, schema, fields }} />
    </>
  )
}
