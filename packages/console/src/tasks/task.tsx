import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'

import { ownLink } from '../api/links.ts'
import { useMe } from '../api/queries.ts'
import { onlyChanges, readFields } from '../try/form.ts'
import { kindOfPath, titleOf } from '../try/kinds.ts'
import { documentQuery } from '../try/queries.ts'
import { schemaOf } from '../try/schema.ts'
import { Copied } from '../ui/code.tsx'
import { LinkButton, OutLink, StrangersLink, tryPage } from '../ui/link.tsx'
import { Columns, Facts, PageTitle, Panel, Row, Show, Stack } from '../ui/panels.tsx'
import { Bdi, Bytes, Picture, Time } from '../ui/values.tsx'
import { Events } from './events.tsx'
import type { TaskDetail } from './types.ts'
import { Outcome, State } from './parts.tsx'
import { eventsQuery, useTask } from './queries.ts'
import styles from './tasks.module.css'
import { TimelinePanel } from './timeline-panel.tsx'

export const Page = () => {
  const { task: id } = useParams({ from: '/tasks/$task' })
  const me = useMe()
  const task = useTask(id)
  // Those of others are not for admins.
  const isOwn = task.data !== undefined && [undefined, me?.id].includes(task.data.owner)
  const events = useQuery({ ...eventsQuery(id), enabled: isOwn })
  return (
    <>
      {task.isLoadingError && <PageTitle>Task</PageTitle>}
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
            {isOwn && <Events task={id} />}
          </Stack>
        )}
      </Show>
    </>
  )
}

const Head = ({ task }: { task: TaskDetail }) => {
  const { task_id: from, temporal_url: temporal } = task
  const kind = kindOfPath(task.request.path)
  const actions = (
    <>
      {temporal && <OutLink href={temporal}>Temporal</OutLink>}
      {kind && <LinkButton {...tryPage(kind.id, from)}>Send again</LinkButton>}
    </>
  )
  return (
    <PageTitle extra={<State task={task} />} actions={actions}>
      {kind?.title ?? titleOf(task.kind)}
    </PageTitle>
  )
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value, null, 1)

/** Inputs of the task: files, the settings that were changed, and behind a line those that were not. */
const Inputs = ({ task }: { task: TaskDetail }) => {
  const { inputs, request, credits, created_at: at, owner, task_id: id } = task
  const document = useQuery(documentQuery).data
  const schema = document && schemaOf(document, request.path)
  const changed = schema ? onlyChanges(readFields(schema), request.body) : request.body
  const settings = Object.entries({ ...request.body, ...changed }).filter(
    ([name]) => name !== 'images' && !inputs.some(({ field }) => field === name),
  )
  const factsOf = (isChanged: boolean) =>
    Object.fromEntries(
      settings
        .filter(([name]) => name in changed === isChanged)
        .map(([name, value]) => [name, <Bdi key={name}>{textOf(value)}</Bdi>]),
    )
  const same = factsOf(false)
  const count = Object.keys(same).length
  return (
    <Panel title="Inputs">
      {inputs.map((input) => (
        <InputFile key={input.field} input={input} />
      ))}
      <Facts
        of={{
          ...factsOf(true),
          credits: credits.toLocaleString('en'),
          made: <Time at={at} />,
          owner: owner !== undefined && <Bdi>{owner}</Bdi>,
          id: <Copied text={id} label="id" />,
        }}
      />
      {count > 0 && (
        <details>
          <summary>{count} as by default</summary>
          <Facts of={same} />
        </details>
      )}
    </Panel>
  )
}

const InputFile = ({ input }: { input: TaskDetail['inputs'][number] }) => {
  const { field, url, content_type: type, width, height, bytes } = input
  const src = ownLink(url)
  return (
    <Row>
      {!type?.startsWith('video/') && <Picture className={styles.input} src={src} />}
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
