import { useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'

import { toTask } from '../../../client/lib/task.ts'
import { answerOf } from '../api/client.ts'
import { sortFaults } from '../api/faults.ts'
import { keepDraft, readDraft } from '../api/session.ts'
import { announce } from '../shell/toasts.tsx'
import { Outcome, State } from '../tasks/parts.tsx'
import { post, useTask } from '../tasks/queries.ts'
import { Button } from '../ui/button.tsx'
import { Code } from '../ui/code.tsx'
import { LinkButton, taskPage } from '../ui/link.tsx'
import { Empty, ErrorPanel, Row, Show, Stack } from '../ui/panels.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { counted, showSeconds } from '../words/text.ts'
import { FieldRow, isWrong, More, type Form } from './field.tsx'
import { missing, pointersOf, settle, withoutEmpty, type Field } from './form.ts'
import type { Kind } from './kinds.ts'
import { dryRunQuery, type DryRun } from './queries.ts'
import type { Body, JsonSchema } from './schema.ts'
import { toCurl, toPythonCode, toTypeScript } from './snippets.ts'
import styles from './try.module.css'

interface TryFormProps {
  user: string
  kind: Kind
  schema: JsonSchema
  fields: readonly Field[]
}

interface Draft {
  body: Body
  /** What was sent last. */
  task?: string
}

/** Milliseconds without a change, after which the price is asked for. */
const PAUSE_MS = 300

/** A form on the left; on the right what came of it, or the same request as code. */
export const TryForm = ({ user, kind, schema, fields }: TryFormProps) => {
  const [draft, setDraft] = useState<Draft>(
    () => (readDraft(user, kind.id) as Draft | null) ?? { body: {} },
  )
  const [isTried, setTried] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const side = useRef<HTMLDivElement>(null)
  useEffect(() => keepDraft(user, kind.id, draft), [user, kind.id, draft])
  const body = withoutEmpty(draft.body)
  const settled = useSettled(body)
  const lacking = missing(fields, body)
  const price = useQuery({
    ...dryRunQuery(kind, settled),
    // Nothing is wrong with a form that nobody has begun.
    enabled: Object.keys(settled).length > 0 || missing(fields, settled).length === 0,
  })
  const send = useMutation({
    mutationFn: async (given: Body) => toTask(await answerOf(post(kind.path, { body: given }))),
    onSuccess: ({ id: task }) => {
      setDraft((old) => ({ ...old, task }))
      announce('Sent')
      // On a phone it stands below.
      if (matchMedia('(max-width: 767px)').matches) side.current?.scrollIntoView()
    },
  })
  const error = send.error ?? price.error
  const faults = sortFaults(error, pointersOf(fields))
  const atFields = { ...faults.fields }
  // What is not given yet is a fault once it was to be sent.
  for (const { pointer } of lacking)
    if (isTried) atFields[pointer] = 'It is required.'
    else delete atFields[pointer]
  const shared: Form = {
    schema,
    body: draft.body,
    faults: atFields,
    pasteInto: fields.find(({ control }) => control.is === 'files')?.name,
    onChange: (name, value) => {
      send.reset()
      setDraft((old) => ({ ...old, body: settle(schema, fields, { ...old.body, [name]: value }) }))
    },
  }
  const rows = (isRare: boolean) =>
    fields
      .filter((field) => field.isRare === isRare)
      .map((field) => <FieldRow key={field.name} field={field} form={shared} />)
  const rare = fields.filter(({ isRare }) => isRare).map(({ pointer }) => pointer)
  return (
    <div className={`split ${styles.columns}`}>
      <form
        ref={form}
        aria-label="Request"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          setTried(true)
          if (lacking.length === 0) send.mutate(body)
          else focusFirst(form.current)
        }}
      >
        <Stack>
          {rows(false)}
          <More title="Advanced" isOpen={isWrong(rare, shared)}>
            {rows(true)}
          </More>
          {error && hasMore(faults) && <ErrorPanel error={error} rest={faults.rest} />}
        </Stack>
        <div className={`row apart ${styles.send}`}>
          <span className="soft small" role="status">
            {lacking.length === 0
              ? aboutPrice(price.data)
              : `Give ${lacking.map(({ label }) => label.toLowerCase()).join(' and ')} to see the price.`}
          </span>
          <Button type="submit" look="primary" isPending={send.isPending}>
            Send
          </Button>
        </div>
      </form>
      <div ref={side} className={styles.side}>
        <Side
          request={{ origin: location.origin, kind, body }}
          task={draft.task}
          onChangeIt={() => focusFirst(form.current)}
        />
      </div>
    </div>
  )
}

interface SideProps {
  request: { origin: string; kind: Kind; body: Body }
  task: string | undefined
  onChangeIt(): void
}

const LANGUAGES = { curl: toCurl, TypeScript: toTypeScript, Python: toPythonCode }

const Side = ({ request, task, onChangeIt }: SideProps) => {
  const codes = Object.entries(LANGUAGES).map(([title, write]) => [
    title.toLowerCase(),
    [title, <Code key={title} text={write(request)} label={`request as ${title}`} />] as const,
  ])
  const content = <Run task={task} onChangeIt={onChangeIt} />
  const tabs = { result: ['Result', content] as const, ...Object.fromEntries(codes) }
  return <Tabs label="Result and code" name="view" tabs={tabs} />
}

/** The body as it was when nobody had changed it for a while. */
const useSettled = (body: Body): Body => {
  const text = JSON.stringify(body)
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return JSON.parse(settled) as Body
}

const aboutPrice = (price: DryRun | undefined): string => {
  if (!price) return ''
  const { credits, estimated_seconds: seconds } = price
  const time =
    seconds === null ? '' : ` · about ${showSeconds(Math.ceil(seconds)).replace('.0', '')}`
  return `${credits === 0 ? 'free' : counted(credits, 'credit')}${time}`
}

/** Whether there is more to say than what stands at the fields. */
const hasMore = ({ fields, rest }: ReturnType<typeof sortFaults>): boolean =>
  rest.length > 0 || Object.keys(fields).length === 0

const focusFirst = (form: HTMLFormElement | null): void => {
  const first =
    form?.querySelector<HTMLElement>('[aria-invalid="true"], [data-invalid] input') ??
    form?.querySelector<HTMLElement>('button, input, textarea')
  first?.scrollIntoView({ block: 'center' })
  first?.focus({ preventScroll: true })
}

/** The task that was sent last: live until it ends, then its result. */
const Run = ({ task: id, onChangeIt }: { task: string | undefined; onChangeIt(): void }) => {
  const task = useTask(id)
  if (id === undefined) return <Empty>Send the request, and its result stands here.</Empty>
  return (
    <Show query={task}>
      {(data) => (
        <Stack>
          <Row>
            <State task={data} />
            <LinkButton {...taskPage(id)} look="quiet">
              Open the task
            </LinkButton>
          </Row>
          <Outcome task={data} changeIt={<Button onPress={onChangeIt}>Change and send</Button>} />
        </Stack>
      )}
    </Show>
  )
}
