import { useQueryClient } from '@tanstack/react-query'
import type { QueryKey } from '@tanstack/react-query'
import { useId, useState } from 'react'
import type { ReactNode } from 'react'

import { sortFaults } from '../api/faults.ts'
import { useWrite } from '../api/queries.ts'
import { showToast } from '../shell/toasts.tsx'
import { Button } from './button.tsx'
import type { ButtonProps } from './button.tsx'
import { Code } from './code.tsx'
import { Dialog } from './dialog.tsx'
import { Checkbox, Select, TextField } from './fields.tsx'
import { Stack } from './page.tsx'
import { ErrorPanel, Note } from './panels.tsx'
import { Bdi } from './text.tsx'

/** A field of a form that is written down as data. */
export interface FieldSpec {
  /** Place in the body: `/${name}` is its JSON Pointer. */
  name: string
  label: string
  help?: ReactNode
  /** What it holds at first. */
  value?: string
  isOptional?: boolean
  /** Lines of a text. */
  rows?: number
  /** One of these. */
  options?: readonly { value: string; label: string }[]
  /** Some of these: the value is their list with commas. */
  many?: readonly string[]
}

export type Values = Readonly<Record<string, string>>

export interface AskProps<Output> {
  title: string
  /** Names the effect: "Delete node". */
  action: string
  look?: ButtonProps['look']
  fields?: readonly FieldSpec[]
  /** Must be typed before it is done. */
  typed?: string
  write(values: Values, headers: { 'idempotency-key': string }): Promise<Output>
  /** What is read anew afterwards. */
  refresh?: readonly QueryKey[]
  onDone?(output: Output): void
  children?: ReactNode
}

/** A dialog that asks for what a write needs, shows faults at their fields, and closes once it is done. */
export const Ask = <Output,>({
  title,
  action,
  look = 'primary',
  fields = [],
  typed,
  write,
  refresh = [],
  onDone,
  onClose,
  children,
}: AskProps<Output> & { onClose(): void }) => {
  const queries = useQueryClient()
  const form = useId()
  const [values, setValues] = useState<Values>(() =>
    Object.fromEntries(fields.map(({ name, value = '' }) => [name, value])),
  )
  const [id, setId] = useState('')
  const sent = useWrite((given: Values, headers) => write(given, headers), {
    onSuccess: (output) => {
      onClose()
      onDone?.(output)
      for (const queryKey of refresh) void queries.invalidateQueries({ queryKey })
    },
  })
  const faults = sortFaults(
    sent.error,
    fields.map(({ name }) => `/${name}`),
  )
  const isWhole =
    (typed === undefined || id === typed) &&
    fields.every(({ name, isOptional }) => isOptional === true || values[name]?.trim() !== '')
  return (
    <Dialog
      title={title}
      isOpen
      onClose={onClose}
      actions={
        <Button
          look={look}
          type="submit"
          form={form}
          isPending={sent.isPending}
          isDisabled={!isWhole}
        >
          {action}
        </Button>
      }
    >
      <form
        id={form}
        onSubmit={(event) => {
          event.preventDefault()
          if (isWhole && !sent.isPending) sent.press(values)
        }}
      >
        <Stack>
          {children}
          {fields.map((field, index) => (
            <Field
              key={field.name}
              field={field}
              isFirst={index === 0}
              value={values[field.name] ?? ''}
              error={faults.fields[`/${field.name}`]}
              onChange={(value) => setValues((before) => ({ ...before, [field.name]: value }))}
            />
          ))}
          {typed !== undefined && (
            <TextField label={`Type ${typed} to go on`} value={id} onChange={setId} autoFocus />
          )}
          {sent.error && <ErrorPanel error={sent.error} rest={faults.rest} />}
        </Stack>
      </form>
    </Dialog>
  )
}

const Field = ({
  field: { label, help, isOptional, rows, options, many },
  isFirst,
  value,
  error,
  onChange,
}: {
  field: FieldSpec
  isFirst: boolean
  value: string
  error: string | undefined
  onChange(value: string): void
}) => {
  const common = { label: isOptional ? `${label} (optional)` : label, help, error, onChange }
  if (options) return <Select {...common} options={options} value={value} />
  if (many) return <Many label={label} many={many} value={value} onChange={onChange} />
  return <TextField {...common} value={value} rows={rows} autoFocus={isFirst} />
}

const Many = ({
  label,
  many,
  value,
  onChange,
}: {
  label: string
  many: readonly string[]
  value: string
  onChange(value: string): void
}) => {
  const chosen = new Set(value === '' ? [] : value.split(','))
  const toggle = (item: string, isOn: boolean): void =>
    onChange(many.filter((one) => (one === item ? isOn : chosen.has(one))).join(','))
  return (
    <div role="group" aria-label={label}>
      <strong>{label}</strong>
      {many.map((item) => (
        <Checkbox
          key={item}
          label={item}
          isSelected={chosen.has(item)}
          onChange={(isOn) => toggle(item, isOn)}
        />
      ))}
    </div>
  )
}

/** A button that asks before it writes. */
export const AskButton = <Output,>({
  label,
  look,
  isDisabled,
  ...props
}: AskProps<Output> & { label: string; isDisabled?: boolean }) => {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button look={look} isDisabled={isDisabled} onPress={() => setOpen(true)}>
        {label}
      </Button>
      {isOpen && <Ask {...props} look={look} onClose={() => setOpen(false)} />}
    </>
  )
}

/** A button that writes at once; a refusal is told in a toast. */
export const WriteButton = <Output,>({
  label,
  isDisabled,
  write,
  refresh = [],
  onDone,
}: Pick<AskProps<Output>, 'refresh' | 'onDone'> & {
  label: string
  isDisabled?: boolean
  write(headers: { 'idempotency-key': string }): Promise<Output>
}) => {
  const queries = useQueryClient()
  const sent = useWrite((_: void, headers) => write(headers), {
    onSuccess: (output) => {
      onDone?.(output)
      for (const queryKey of refresh) void queries.invalidateQueries({ queryKey })
    },
    onError: (error) => void showToast(<Bdi>{error.message}</Bdi>),
  })
  return (
    <Button onPress={() => sent.press()} isPending={sent.isPending} isDisabled={isDisabled}>
      {label}
    </Button>
  )
}

/** A secret that is shown this once. It lives in the state of whoever shows it, and nowhere else. */
export const SecretDialog = ({
  title,
  secret,
  onClose,
  children,
}: {
  title: string
  secret: string
  onClose(): void
  children?: ReactNode
}) => (
  <Dialog title={title} isOpen onClose={onClose}>
    <Note tone="warn">Copy it now: it is shown this once, and stored by its digest alone.</Note>
    <Code text={secret} label="secret" />
    {children}
  </Dialog>
)
