import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'

import { fileLink, ownLink } from '../api/links.ts'
import { useMe } from '../api/queries.ts'
import { useTaskToken } from '../api/task-token.ts'
import { onlyChanges, readFields, type Choice } from '../try/form.ts'
import { findKind, titleOf } from '../try/kinds.ts'
import { documentQuery } from '../try/queries.ts'
import { schemaOf } from '../try/schema.ts'
import { toCurl } from '../try/snippets.ts'
import { labelOf, labelOfInput, wordOf } from '../try/words.ts'
import { Code, Copied } from '../ui/code.tsx'
import { DownloadButton } from '../ui/download.tsx'
import { Link, LinkButton, OutLink, StrangersLink, tryPage } from '../ui/link.tsx'
import { Facts, Note, PageTitle, Panel, Row, Show, Stack } from '../ui/panels.tsx'
import { Bdi, Bytes, Picture, Time } from '../ui/values.tsx'
import { DATE_TIME, showNumber } from '../words/language.ts'
import { t } from '../words/translate.ts'
import { Events } from './events.tsx'
import { Explanation } from './explanation.tsx'
import { Life } from './life.tsx'
import { ManageTask } from './manage.tsx'
import { Outcome, State } from './parts.tsx'
import { useTask } from './queries.ts'
import styles from './tasks.module.css'
import type { TaskDetail } from './types.ts'

export const Page = () => {
  const { task: id } = useParams({ from: '/tasks/$task' })
  const me = useMe()
  const task = useTask(id)
  const isShared = useTaskToken() !== undefined
  // Those of others are not for admins.
  const isOwn =
    !isShared && task.data !== undefined && [undefined, me?.id].includes(task.data.owner)
  if (isShared && task.error)
    return (
      <>
        <PageTitle>{t('Task')}</PageTitle>
        <Note tone="warn">{t('This link has ended. Ask whoever sent it for another one.')}</Note>
      </>
    )
  return (
    <>
      {task.isLoadingError && <PageTitle>{t('Task')}</PageTitle>}
      <Show query={task}>
        {(data) => (
          <>
            <Head task={data} isOwn={isOwn} />
            <Stack>
              {isShared && (
                <Note>{t('You see this task by a link, which ends within an hour.')}</Note>
              )}
              <div className={`split ${styles.page}`}>
                <Panel title={t('Result')}>
                  <Outcome task={data} changeIt={isShared ? false : undefined} />
                </Panel>
                <About task={data} />
              </div>
              <Life task={data} />
              {me?.isAdmin === true && !isShared && (
                <Explanation task={id} isOpen={!data.ended_at} />
              )}
              {data.log && (
                <Panel title={t('Log')}>
                  <Code text={data.log} label={t('log')} />
                </Panel>
              )}
              {isOwn && <Events task={data} />}
              <Raw task={data} />
            </Stack>
          </>
        )}
      </Show>
    </>
  )
}

const Head = ({ task, isOwn }: { task: TaskDetail; isOwn: boolean }) => {
  const { task_id: from, kind, prompt, created_at: at, temporal_url: temporal } = task
  const isShared = useTaskToken() !== undefined
  const actions = (
    <>
      {temporal && <OutLink href={temporal}>{t('Temporal')}</OutLink>}
      {findKind(kind) && !isShared && (
        <LinkButton {...tryPage(kind, from)}>{t('Run again')}</LinkButton>
      )}
      {isOwn && <ManageTask task={task} />}
    </>
  )
  return (
    <>
      <PageTitle extra={<State task={task} />} actions={actions}>
        {titleOf(kind)}
      </PageTitle>
      <p className={`soft clamp ${styles.about}`}>
        {prompt && <Bdi>{prompt}</Bdi>}
        {prompt && ' · '}
        <time dateTime={at}>{DATE_TIME.format(new Date(at))}</time>
      </p>
    </>
  )
}

const textOf = (name: string, value: unknown): string =>
  typeof value === 'object' ? JSON.stringify(value, null, 1) : wordOf(name, value as Choice)

/** The whole prompt: lists have its beginning. */
const promptOf = ({ request, prompt = '' }: TaskDetail): string => {
  const { prompt: whole } = request.body
  return typeof whole === 'string' ? whole : prompt
}

/** Facts of the task: its prompt and files, what came of it, the settings that were changed, and behind a line the others. */
const About = ({ task }: { task: TaskDetail }) => {
  const { inputs, request, results, credits, created_at: at, owner, task_id: id, engine } = task
  const { labels, purge_at: purge } = task
  const document = useQuery(documentQuery).data
  const schema = document && schemaOf(document, request.path)
  const changed = schema ? onlyChanges(readFields(schema), request.body) : request.body
  const kind = findKind(task.kind)
  const [result] = results
  const settings = Object.entries({ ...request.body, ...changed }).filter(
    ([name]) =>
      !['images', 'prompt', 'model', 'kiln_labels'].includes(name) &&
      !inputs.some(({ field }) => field.split('.')[0] === name),
  )
  const factsOf = (isChanged: boolean) =>
    Object.fromEntries(
      settings
        .filter(([name]) => name in changed === isChanged)
        .map(([name, value]) => [labelOf(name), <Bdi key={name}>{textOf(name, value)}</Bdi>]),
    )
  const same = factsOf(false)
  const count = Object.keys(same).length
  return (
    <Panel title={t('Details')}>
      {inputs.map((input) => (
        <InputFile key={input.field} kind={task.kind} input={input} />
      ))}
      <Facts
        of={{
          [t('Prompt')]: task.prompt && <Bdi>{promptOf(task)}</Bdi>,
          [task.family === 'video' ? t('Model') : t('Engine setting')]: engine && (
            <Bdi>{engine}</Bdi>
          ),
          [t('Size')]: result?.width !== undefined && (
            <>
              {result.width} × {result.height}
              {result.bytes !== undefined && ' · '}
              {result.bytes !== undefined && <Bytes count={result.bytes} />}
            </>
          ),
          [t('Labels')]: labels && <LabelList labels={labels} />,
          ...factsOf(true),
          [t('Credits')]: showNumber(credits),
          [t('Created')]: <Time at={at} />,
          [t('Files are removed')]: purge && <Time at={purge} />,
          [t('Owner')]: owner !== undefined && <Bdi>{owner}</Bdi>,
          [t('Id')]: <Copied text={id} label={t('id')} />,
        }}
      />
      {count > 0 && (
        <details>
          <summary>{t('{count} settings at their defaults', { count })}</summary>
          <Facts of={same} />
        </details>
      )}
      {kind && (
        <details>
          <summary>{t('As curl')}</summary>
          <Code
            label={t('request as curl')}
            text={toCurl({ origin: location.origin, kind, body: changed })}
          />
        </details>
      )}
    </Panel>
  )
}

/** The task as the API has it, to be read, copied and kept. */
const Raw = ({ task }: { task: TaskDetail & { preview?: string } }) => {
  const { preview: _preview, ...whole } = task
  const text = JSON.stringify(whole, null, 2)
  return (
    <Panel
      title={t('JSON')}
      actions={
        <DownloadButton
          label={t('Download JSON')}
          name={`task-${task.task_id}.json`}
          type="application/json"
          read={() => `${text}\n`}
        />
      }
    >
      <details>
        <summary>{`GET /tasks/${task.task_id}`}</summary>
        <Code text={text} label={t('JSON')} />
      </details>
    </Panel>
  )
}

/** Each leads to the tasks that have it, too. */
const LabelList = ({ labels }: { labels: Readonly<Record<string, string>> }) => (
  <Row>
    {Object.entries(labels).map(([key, value]) => (
      <Link key={key} to="/tasks" search={{ label: `${key}:${value}` }}>
        <Bdi>{`${key}: ${value}`}</Bdi>
      </Link>
    ))}
  </Row>
)

const InputFile = ({ kind, input }: { kind: string; input: TaskDetail['inputs'][number] }) => {
  const { field, url, stored_url: stored = url, content_type: type, width, height, bytes } = input
  const src = fileLink(stored)
  return (
    <Row>
      {!type?.startsWith('video/') && <Picture className={styles.input} src={src} />}
      <span>
        <b>{labelOfInput(kind, field)}</b>
        <br />
        {!ownLink(url) ? (
          <StrangersLink address={url} />
        ) : (
          src === undefined && (
            <>
              <span className="soft">{t('Only its owner may open it.')}</span>{' '}
            </>
          )
        )}{' '}
        {width !== undefined && `${width} × ${height} `}
        {bytes !== undefined && <Bytes count={bytes} />}
      </span>
    </Row>
  )
}
