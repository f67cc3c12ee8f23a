import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { useState, type ReactNode } from 'react'

import { readQuery } from '../api/client.ts'
import { fileLink, ownLink } from '../api/links.ts'
import { inPlainWords } from '../api/issues.ts'
import { creditsQuery, useMe } from '../api/queries.ts'
import { useTaskToken } from '../api/task-token.ts'
import { AskButton } from '../ui/ask.tsx'
import { buttonClass } from '../ui/button.tsx'
import { CopyButton } from '../ui/code.tsx'
import { LinkButton, tryPage } from '../ui/link.tsx'
import { Note, Row, Stack } from '../ui/panels.tsx'
import { Bdi, Bytes, Hidden, Progress, StateBadge, Time, useNow } from '../ui/values.tsx'
import { DATE_TIME } from '../words/language.ts'
import { wordsOf } from '../words/states.ts'
import { rich, t } from '../words/translate.ts'
import { BeforeAfter } from './before-after.tsx'
import {
  aboutLeft,
  aboutTime,
  aboutWait,
  isForSlot,
  isOwnLimit,
  makeBars,
  secondsLeft,
  secondsRendered,
  sumUp,
} from './timeline.ts'
import type { TaskDetail } from './types.ts'
import { cancelTask, taskQuery } from './queries.ts'
import styles from './result.module.css'

/** State of a task, its duration, and the button that cancels it. */
export const State = ({ task }: { task: TaskDetail }) => {
  const now = useNow()
  const isShared = useTaskToken() !== undefined
  const { ended_at: to, task_id: id, credits } = task
  return (
    <Row>
      <StateBadge state={task.state} />
      <span className="soft">{aboutTime(sumUp(makeBars(task, now)))}</span>
      {task.cancellable && !isShared && (
        <AskButton
          label={t('Cancel')}
          variant="danger"
          title={t('Cancel this task?')}
          action={t('Cancel the task')}
          dismiss={t('Keep running')}
          write={() => cancelTask(task)}
          refresh={taskQuery(id).queryKey}
        >
          <p>
            {credits > 0
              ? t('The task stops without a result; its credits are refunded.')
              : t('The task stops without a result.')}
          </p>
        </AskButton>
      )}
      {to === undefined && !task.cancellable && !isShared && (
        <span className="soft small">{t('Rendering can’t be cancelled')}</span>
      )}
    </Row>
  )
}

/** Result of a task, or its progress. `changeIt` is shown where it failed. */
export const Outcome = ({ task, changeIt }: { task: TaskDetail; changeIt?: ReactNode }) => {
  if (task.state === 'done') return <Result task={task} />
  if (!task.ended_at) return <Going task={task} />
  const { state, error, engine_error: said, kind, task_id: from } = task
  return (
    <Note tone={state === 'cancelled' ? 'info' : 'bad'}>
      <p>
        <Bdi>
          {error
            ? inPlainWords(error.message)
            : t('The task is {state}.', { state: wordsOf(state).word })}
        </Bdi>{' '}
        {state !== 'cancelled' && <code>{error?.code}</code>}
      </p>
      {said !== undefined && (
        <p className="small">{rich('The engine: {said}', { said: <Bdi>{said}</Bdi> })}</p>
      )}
      {changeIt ?? <LinkButton {...tryPage(kind, from)}>{t('Edit and run')}</LinkButton>}
    </Note>
  )
}

/** Progress of a running task: its percentage; an image without one is estimated by the time that similar ones took. */
const Going = ({ task }: { task: TaskDetail }) => {
  const { started_at: started, family, progress, waits_for: waits, lacking = [] } = task
  const { queue_position: place } = task
  const now = useNow()
  const passed = secondsRendered(task, now)
  const left = secondsLeft(task, passed)
  const guessed = left === undefined ? undefined : passed / (passed + Math.max(left, 0.5))
  const isCounted = family === 'video' || progress > 0
  const part = isCounted ? progress / 100 : guessed
  const slots = useSlots(task)
  const turn =
    slots ??
    (waits && inPlainWords(waits).replace(/\.$/, '')) ??
    (started === undefined ? t('In queue') : aboutLeft(left, part))
  const isStalled = started === undefined || waits !== undefined
  const usual = useUsualWait(task)
  const { start_after: start = '' } = task
  const words = [
    isCounted && `${progress} %`,
    turn,
    place && t('place {place} in your queue', { place }),
    Date.parse(start) > now
      ? t('starts {time}', { time: DATE_TIME.format(new Date(start)) })
      : usual,
  ]
  return (
    <Starting
      words={words.filter(Boolean).join(' · ')}
      part={isStalled ? undefined : part}
      of={task.inputs[0]}
      preview={(task as TaskDetail & { preview?: string }).preview}
    >
      {lacking.length > 0 && (
        <Note tone="warn">
          <ul>
            {lacking.map((reason) => (
              <li key={reason}>
                <Bdi>{inPlainWords(reason)}</Bdi>
              </li>
            ))}
          </ul>
        </Note>
      )}
    </Starting>
  )
}

const DAY_MS = 86_400_000
/** Days whose tasks say how long one waits. */
const RECENT_DAYS = 7

/** Time that the caller's tasks of the kind waited lately; nothing of one that has begun. */
const useUsualWait = (task: TaskDetail) => {
  const { kind, started_at: started, created_at: at, waits_for: waits } = task
  const isOpen = started === undefined && !isOwnLimit(waits)
  const [from] = useState(() =>
    new Date(Date.now() - RECENT_DAYS * DAY_MS).toISOString().slice(0, 10),
  )
  const recent = readQuery('/usage', { query: { from, by: 'kind' } }, { staleTime: 60_000 })
  const isShared = useTaskToken() !== undefined
  const { data } = useQuery({ ...recent, enabled: isOpen && !isShared })
  const waited = (useNow() - Date.parse(at)) / 1000
  const waiting = data?.groups.find(({ group }) => group === kind)?.waiting
  return isOpen && waiting ? aboutWait(waiting, waited) : undefined
}

/** Video slots of the caller, for a task of their own that waits for one. */
const useSlots = ({ waits_for: waits, owner }: TaskDetail): string | undefined => {
  const me = useMe()
  const isOwn = useTaskToken() === undefined && [undefined, me?.id].includes(owner)
  const enabled = me !== undefined && isOwn && isForSlot(waits)
  const [usage] = useQuery({ ...creditsQuery, enabled }).data?.remains ?? []
  return enabled && usage
    ? t('Waiting for a free video slot: {used} of {total} in use', {
        used: usage.current_concurrency,
        total: usage.concurrency_limit,
      })
    : undefined
}

type StartingProps = {
  words: string
  part?: number | undefined
  of?: { width?: number; height?: number } | undefined
  /** Small picture of what is being made, as a data: URI. */
  preview?: string | undefined
  children?: ReactNode
}

/** Progress in words and as a bar, above the room of the picture that will be there. */
export const Starting = ({
  words,
  part,
  of: { width = 4, height = 3 } = {},
  preview,
  children,
}: StartingProps) => (
  <>
    <div role="status">
      <Progress label={t('Progress')} part={part} />
      <span className="soft small">{words}</span>
    </div>
    {children}
    <div className={styles.frame} style={{ aspectRatio: `${width} / ${height}` }}>
      {preview !== undefined && <img src={preview} alt={t('Preview of the result')} />}
    </div>
  </>
)

const COVER = 'cover.jpg'
const COVERS = /^cover(-\d+)?\.jpg$/

/** Kinds that take a result as their input. */
const NEXT = {
  image: [
    ['relight', t('Relight')],
    ['upscale', t('Upscale')],
    ['skin_flexible', t('Skin')],
    ['img2video', t('Animate')],
  ],
  video: [['extend', t('Extend')]],
} as const

/** The picture that a result was made of; a link of this service that has ended has a fresh one. */
const linkBefore = ({ inputs }: TaskDetail): string | undefined => {
  const input = inputs.find(({ field }) => field.startsWith('image'))
  return fileLink(input?.stored_url ?? input?.url)
}

/** Files that a task has made, beside those that it was made of. */
const Result = ({ task }: { task: TaskDetail }) => {
  const queries = useQueryClient()
  const [issues, setErrors] = useState(0)
  const [main] = task.results
  const token = useTaskToken()
  const { queryKey } = taskQuery(task.task_id, token)
  const onBroken = (): void => {
    // Links live a day: the task is read once more for fresh ones.
    if (issues === 0) void queries.invalidateQueries({ queryKey, exact: true })
    setErrors(issues + 1)
  }
  if (task.deleted_at !== undefined)
    return (
      <Note>
        {rich('The task and its files were deleted {time}.', {
          time: <Time at={task.deleted_at} />,
        })}
      </Note>
    )
  if (task.purged_at !== undefined)
    return (
      <Note>
        {rich('Old files were removed {time}. Run it again to get new ones.', {
          time: <Time at={task.purged_at} />,
        })}
      </Note>
    )
  const src = ownLink(main?.url)
  const [media = ''] = main?.content_type?.split('/') ?? []
  if (!main || src === undefined) return <Note>{t('There is no file to show.')}</Note>
  return (
    <Stack>
      {task.warnings?.map((warning) => (
        <Note key={warning} tone="warn">
          <Bdi>{inPlainWords(warning)}</Bdi>
        </Note>
      ))}
      {issues > 1 && (
        <Note tone="warn">{t('A file does not load. Its link may have expired.')}</Note>
      )}
      {media === 'video' ? (
        // oxlint-disable-next-line jsx-a11y/media-has-caption -- What a model makes has no captions.
        <video
          key={src}
          className={styles.video}
          controls
          loop
          playsInline
          preload="metadata"
          poster={ownLink(task.results.find(({ name }) => name === COVER)?.url)}
          src={src}
          onError={onBroken}
        />
      ) : media === 'audio' ? (
        // oxlint-disable-next-line jsx-a11y/media-has-caption -- What a model makes has no captions.
        <audio key={src} controls preload="metadata" src={src} onError={onBroken} />
      ) : media === 'image' ? (
        <BeforeAfter key={src} before={linkBefore(task)} after={src} onBroken={onBroken} />
      ) : (
        <Note>{t('The result is a text.')}</Note>
      )}
      <Row>
        {task.results
          .filter(({ name }) => !COVERS.test(name))
          .map((file) => (
            <a key={file.name} className={buttonClass()} href={ownLink(file.url)} download>
              <Download aria-hidden />
              <Hidden>{t('Download')} </Hidden>
              {file.name}
              {file.bytes !== undefined && <Bytes count={file.bytes} />}
            </a>
          ))}
        <CopyButton text={new URL(src, location.origin).href} label={t('link')} />
      </Row>
      {(media === 'image' || media === 'video') && token === undefined && (
        <div className="row" role="group" aria-label={t('Use as input')}>
          <span className="soft" aria-hidden>
            {t('Use as input')}
          </span>
          {NEXT[media].map(([kind, title]) => (
            <LinkButton key={kind} {...tryPage(kind, task.task_id, 'result')}>
              {title}
            </LinkButton>
          ))}
        </div>
      )}
    </Stack>
  )
}
