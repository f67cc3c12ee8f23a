import { useQuery } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'

import { KilnError } from '../api/client.ts'
import { ownLink } from '../api/links.ts'
import { useMe } from '../api/queries.ts'
import { onlyChanges, readFields } from '../try/form.ts'
import { kindOfPath, titleOf } from '../try/kinds.ts'
import { documentQuery } from '../try/queries.ts'
import { schemaOf } from '../try/schema.ts'
import { Copied } from '../ui/code.tsx'
import { LinkButton, OutLink, StrangersLink, tryPage } from '../ui/link.tsx'
import { Columns, Empty, Facts, PageTitle, Panel, Row, Show, Stack } from '../ui/panels.tsx'
import { useChangeSearch } from '../ui/address.ts'
import { Bdi, Bytes, Time } from '../ui/values.tsx'
import { Events } from './events.tsx'
import type { TaskDetail } from './types.ts'
import { Outcome, State } from './parts.tsx'
import { eventsQuery, useTask } from './queries.ts'
import styles from './tasks.module.css'
import { TimelinePanel } from './timeline-panel.tsx'

export const Page = () => {
  const { task: id } = useParams({ from: '/tasks/$task' })
  const { event } = useSearch({ from: '/tasks/$task' })
  const change = useChangeSearch()
  const me = useMe()
  const task = useTask(id)
  // Those of others are not for admins.
  const isOwn = task.data !== undefined && [undefined, me?.id].includes(task.data.owner)
  const events = useQuery({ ...eventsQuery(id), enabled: isOwn })
  if (task.error instanceof KilnError && [400, 404].includes(task.error.status ?? 0))
    return <Missing id={id} />
  return (
    <Show query={task}>
      {(data) => (
        <Stack>
          <Head task={data} />
          <TimelinePanel task={data} events={events.data?.events ?? []} />
          <Columns>
            <Panel title="Result">
              <Outcome task={data} />
            </Panel>
            <Inputs task={data} />
          </Columns>
          {isOwn && (
            <Events task={id} opened={event} onOpen={(opened) => change({ event: opened })} />
          )}
        </Stack>
      )}
    </Show>
  )
}

const Missing = ({ id }: { id: string }) => (
  <>
    <PageTitle>No such task</PageTitle>
    <Empty>
      <p>
        There is no task <Bdi>{id}</Bdi>, or it is not yours.
      </p>
      <LinkButton to="/tasks">All tasks</LinkButton>
    </Empty>
  </>
)

const Head = ({ task }: { task: TaskDetail }) => {
  const kind = kindOfPath(task.request.path)
  const actions = (
    <>
      {task.temporal_url !== undefined && <OutLink href={task.temporal_url}>Temporal</OutLink>}
      {kind && (
        <LinkButton {...tryPage(kind.id)} search={{ from: task.task_id }}>
          Send again
        </LinkButton>
      )}
    </>
  )
  return (
    <PageTitle extra={<State task={task} />} actions={actions}>
      {kind?.title ?? titleOf(task.kind)}
    </PageTitle>
  )
}

/** What it was made of: files, the settings that were changed, and behind a line those that were not. */
const Inputs = ({ task }: { task: TaskDetail }) => {
  const { inputs, request, credits, created_at: at, owner, task_id: id } = task
  const document = useQuery(documentQuery).data
  const schema = document && schemaOf(document, request.path)
  const settings = Object.entries(request.body).filter(
    ([name]) => name !== 'images' && !inputs.some(({ field }) => field === name),
  )
  const changed = schema ? onlyChanges(readFields(schema), request.body) : request.body
  const list = (isChanged: boolean) =>
    settings
      .map(([name, value]) => [name, isChanged ? changed[name] : value] as const)
      .filter(([name, value]) => value !== undefined && (isChanged || !(name in changed)))
      .map(([name, value]) => [
        name,
        <Bdi key={name}>{typeof value === 'string' ? value : JSON.stringify(value, null, 1)}</Bdi>,
      ])
  const same = list(false)
  return (
    <Panel title="Inputs">
      {inputs.map((input) => (
        <InputFile key={input.field} input={input} />
      ))}
      <Facts
        of={{
          ...Object.fromEntries(list(true)),
          credits: credits.toLocaleString('en'),
          made: <Time at={at} />,
          owner: owner !== undefined && <Bdi>{owner}</Bdi>,
          id: <Copied text={id} label="id" />,
        }}
      />
      {same.length > 0 && (
        <details>
          <summary>{same.length} as by default</summary>
          <Facts of={Object.fromEntries(same)} />
        </details>
      )}
    </Panel>
  )
}

const InputFile = ({ input }: { input: TaskDetail['inputs'][number] }) => {
  const { field, url, content_type: type, width, height, bytes } = input
  const [isBroken, setBroken] = useState(false)
  const src = ownLink(url)
  return (
    <Row>
      {src !== undefined && !type?.startsWith('video/') && !isBroken && (
        <img className={styles.input} src={src} alt="" onError={() => setBroken(true)} />
      )}
      <span>
        <b>{field}</b>
        <br />
        {src === undefined && <StrangersLink address={url} />}
        {width !== undefined && `${width} × ${height} `}
        {bytes !== undefined && <Bytes count={bytes} />}
      </span>
    </Row>
  )
}
