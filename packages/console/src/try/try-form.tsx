import { useIsMutating, useMutation, useQuery } from '@tanstack/react-query'
import { Fragment, useEffect, useRef, useState } from 'react'

import { ToggleButton } from 'react-aria-components/ToggleButton'

import { toTask } from '../../../client/src/lib/task.ts'
import { responseOf, type Schema } from '../api/client.ts'
import { sortIssues } from '../api/issues.ts'
import { keepDraft, readDraft } from '../api/session.ts'
import { announce } from '../shell/toasts.tsx'
import { Outcome, Starting, State } from '../tasks/parts.tsx'
import { post, useTask } from '../tasks/queries.ts'
import { Button } from '../ui/button.tsx'
import { Code } from '../ui/code.tsx'
import { Link, taskPage } from '../ui/link.tsx'
import { ErrorPanel, Row, Show, Stack } from '../ui/panels.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { inSentence, joinAll } from '../words/language.ts'
import { showWholeSeconds } from '../words/text.ts'
import { t } from '../words/translate.ts'
import { Example } from './example.tsx'
import { FieldRow, isWrong, More, type Form } from './field.tsx'
import {
  findIneffective,
  missing,
  normalize,
  pointersOf,
  withoutEmpty,
  withPresets,
  type Field,
} from './form.ts'
import type { Kind } from './kinds.ts'
import { dryRunQuery, UPLOADS } from './queries.ts'
import type { Body, JsonSchema } from './schema.ts'
import { toCurl, toPythonCode, toTypeScript } from './snippets.ts'
import styles from './try.module.css'
import { LIGHTS, withoutCases } from './words.ts'

interface Draft {
  body: Body
  /** Id of the task that was sent last. */
  task?: string
}

type TryFormProps = { user: string; kind: Kind; schema: JsonSchema; fields: readonly Field[] }

/** A form on the left; on the right what came of it, or the same request as code. */
export const TryForm = ({ user, kind, schema, fields }: TryFormProps) => {
  const [draft, setDraft] = useState(
    () => (readDraft(user, kind.id) ?? { body: chooseFirst(fields) }) as Draft,
  )
  const [isSubmitted, setSubmitted] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const side = useRef<HTMLDivElement>(null)
  useEffect(() => keepDraft(user, kind.id, draft), [user, kind.id, draft])
  const isLoading = useIsMutating({ mutationKey: UPLOADS }) > 0
  const [isWaiting, setWaiting] = useState(false)
  useEffect(() => {
    if (isWaiting && !isLoading) form.current?.requestSubmit()
  }, [isWaiting, isLoading])
  const body = withoutEmpty(draft.body)
  const lacking = missing(fields, body)
  const price = useQuery({
    ...dryRunQuery(kind, body),
    // Nothing is wrong with a form that nobody has begun.
    enabled: lacking.length === 0 || JSON.stringify(body) !== JSON.stringify(chooseFirst(fields)),
  })
  const send = useMutation({
    mutationFn: async (given: Body) => toTask(await responseOf(post(kind.path, { body: given }))),
    // An older result beside an error would look like that of this request.
    onMutate: () => setDraft(({ body }) => ({ body })),
    onSuccess: ({ id: task }) => {
      setDraft((old) => ({ ...old, task }))
      announce(t('Sent'))
      // On a phone it stands below.
      if (matchMedia('(max-width: 767px)').matches) side.current?.scrollIntoView()
    },
  })
  const error = send.error ?? price.error
  const issues = sortIssues(error, pointersOf(fields))
  // The reason word of a video route says nothing more.
  const rest = issues.rest.filter((detail) => detail.includes(' '))
  const isAllAtFields = rest.length === 0 && Object.keys(issues.fields).length > 0
  useEffect(() => {
    if (send.error && isAllAtFields) focusFirst(form.current)
  }, [send.error, isAllAtFields])
  const atFields = { ...issues.fields }
  // A missing member is an issue only after an attempt to send.
  for (const { pointer, control, label } of lacking)
    if (isSubmitted)
      atFields[pointer] =
        control.is === 'files'
          ? t('Required: add {what}', { what: withArticle(label) })
          : t('Required')
    else delete atFields[pointer]
  const full = withPresets(fields, body)
  const idle = findIneffective(fields, full)
  const shared: Form = {
    schema,
    body: draft.body,
    full,
    issues: atFields,
    pasteInto: fields.find(({ control }) => control.is === 'files')?.name,
    onChange: (name, value) => {
      send.reset()
      const normalized = (old: Body) => normalize(schema, fields, { ...old, [name]: value })
      setDraft((old) => ({ ...old, body: normalized(old.body) }))
    },
  }
  const shown = fields.filter(({ name }) => name !== 'video_creation_id')
  const fold = (title: string, folded: readonly Field[], about = '', isOpen = false) => {
    const pointers = folded.map(({ pointer }) => pointer)
    if (folded.length === 0) return null
    return (
      <More title={title} open={isOpen || isWrong(pointers, shared)}>
        {about && <p className="soft small">{about}</p>}
        {folded.map((field) => (
          <FieldRow key={field.name} field={field} form={shared} />
        ))}
      </More>
    )
  }
  const fieldsAt = (place: Field['place']) =>
    shown
      .filter((field) => field.place === place && !idle.has(field))
      .map((field) => ({ ...field, help: withoutCases(field.help) }))
  const light = fieldsAt('light')
  const isLit = light.some(({ name }) => name in body)
  const unused = shown.filter((field) => idle.has(field))
  const wanted = joinAll([...new Set(lacking.map(({ label }) => withArticle(label)))])
  const request = { origin: location.origin, kind, body }
  const isSending = isWaiting || send.isPending
  const run = isSending ? (
    <Starting words={isWaiting ? t('Waiting for the upload') : t('Sending the request')} />
  ) : (
    <Run kind={kind} task={draft.task} onChangeIt={() => focusFirst(form.current)} />
  )
  const tabs = {
    result: [t('Result'), run],
    curl: codeTab('curl', toCurl(request)),
    typescript: codeTab('TypeScript', toTypeScript(request)),
    python: codeTab(t('Python'), toPythonCode(request)),
  } as const
  return (
    <div className={`split ${styles.columns}`}>
      <form
        ref={form}
        aria-label={t('Request')}
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          setWaiting(isLoading)
          if (isLoading) return
          setSubmitted(true)
          if (lacking.length === 0) send.mutate(body)
          else focusFirst(form.current)
        }}
      >
        <Stack>
          {fieldsAt('main').map((field) => (
            <Fragment key={field.name}>
              <FieldRow field={field} form={shared} />
              {field.name === 'prompt' && light.length > 0 && !isLit && (
                <Lights
                  prompt={body['prompt']}
                  onChoose={(text) => shared.onChange('prompt', text)}
                />
              )}
            </Fragment>
          ))}
          {fold(t('Light from another picture'), light, '', isLit)}
          {fold(t('Advanced'), fieldsAt('rare'))}
          {fold(t('Options'), fieldsAt('option'))}
          {fold(
            t('Fields that change nothing here ({count})', { count: unused.length }),
            unused,
            IGNORED,
          )}
        </Stack>
        <div className={`stack tight ${styles.send}`}>
          {error && !isAllAtFields && <ErrorPanel error={error} rest={rest} />}
          <div className={`row apart ${styles.price}`}>
            <span className="soft small" role="status">
              {isWaiting
                ? t('Sends once the upload is done')
                : lacking.length === 0
                  ? aboutPrice(price.data)
                  : t('Price: shown once {wanted} is chosen', { wanted })}
            </span>
            <Button type="submit" variant="primary" isPending={isSending}>
              {isSending ? t('Sending…') : t('Send')}
            </Button>
          </div>
        </div>
      </form>
      <div ref={side} className={styles.side}>
        <Tabs label={t('Result and code')} name="view" tabs={tabs} />
      </div>
    </div>
  )
}

const IGNORED = t(
  'The API accepts these fields, but this engine ignores them, or they need another choice above.',
)

const codeTab = (title: string, text: string) =>
  [title, <Code key={title} text={text} label={t('request as {title}', { title })} />] as const

const withArticle = (label: string): string =>
  /^[aeiou]/i.test(label)
    ? t('an {label}', { label: inSentence(label) })
    : t('a {label}', { label: inSentence(label) })

const aboutPrice = (price: Schema<'DryRun'> | undefined): string => {
  if (!price) return ''
  const { credits, estimated_seconds: seconds } = price
  const cost =
    credits === 0
      ? t('Price: free')
      : t('Price: {count, plural, one {# credit} other {# credits}}', { count: credits })
  if (seconds === null) return cost
  return `${cost} · ${t('about {time}', { time: showWholeSeconds(seconds) })}`
}

const focusFirst = (form: HTMLFormElement | null): void => {
  const first =
    form?.querySelector<HTMLElement>(
      '[aria-invalid="true"], [aria-describedby]:is([data-invalid] button), [data-invalid] input',
    ) ?? form?.querySelector<HTMLElement>('button, input, textarea')
  first?.scrollIntoView({ block: 'center' })
  first?.focus({ preventScroll: true })
}

type LightsProps = { prompt: unknown; onChoose(prompt: string | undefined): void }

/** Prompts of a light to begin with, one press each; another press takes it away. */
const Lights = ({ prompt, onChoose }: LightsProps) => (
  <div className="row" role="group" aria-label={t('Samples for Prompt')}>
    <span className="soft small">
      {t('Without a prompt, or light from another picture, the light stays as it is. For example:')}
    </span>
    {LIGHTS.map((text) => (
      <ToggleButton
        key={text}
        className={styles.variant}
        isSelected={prompt === text}
        onChange={(isChosen) => onChoose(isChosen ? text : undefined)}
      >
        {text}
      </ToggleButton>
    ))}
  </div>
)

/** A draft in which what must be chosen is. */
const chooseFirst = (fields: readonly Field[]): Body =>
  Object.fromEntries(
    fields.flatMap(({ name, isRequired, control }) =>
      isRequired && control.is === 'choice' ? [[name, control.options[0]]] : [],
    ),
  )

interface RunProps {
  kind: Kind
  task: string | undefined
  onChangeIt(): void
}

/** The task that was sent last: live until it ends, then its result. */
const Run = ({ kind, task: id, onChangeIt }: RunProps) => {
  const task = useTask(id)
  if (id === undefined) return <Example kind={kind} />
  return (
    <Show query={task} loading={<Starting words={t('Sent')} />}>
      {(data) => (
        <Stack>
          <Row>
            <State task={data} />
            <Link {...taskPage(id)}>{t('Open the task')}</Link>
          </Row>
          <Outcome
            task={data}
            changeIt={<Button onPress={onChangeIt}>{t('Edit and run')}</Button>}
          />
        </Stack>
      )}
    </Show>
  )
}
