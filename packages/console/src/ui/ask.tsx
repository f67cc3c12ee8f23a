import { useMutation, useQueryClient, type QueryKey } from '@tanstack/react-query'
import { useId, useState, type FormEvent, type ReactNode } from 'react'

import { inPlainWords, sortIssues } from '../api/issues.ts'
import { showToast } from '../shell/toasts.tsx'
import { t } from '../words/translate.ts'
import { confirmField, Field, type FieldSpec, type Values } from './ask-field.tsx'
import { Button, type ButtonProps } from './button.tsx'
import { Code } from './code.tsx'
import { Dialog } from './layers.tsx'
import { ErrorPanel, Note, Stack } from './panels.tsx'
import { Bdi } from './values.tsx'

export interface AskProps<Output> {
  title?: string
  /** Names the effect: "Delete node". */
  action: string
  variant?: ButtonProps['variant']
  /** May follow what is entered. */
  fields?: readonly FieldSpec[] | ((values: Values) => readonly FieldSpec[])
  /** Label of the button that leaves all as it is, where "Cancel" would mean the write. */
  dismiss?: string
  /** Comes from the side, for a form of many fields. */
  drawer?: boolean
  /** Says below the fields what it will do. */
  effect?(values: Values): ReactNode
  /** Must be typed before it is done. */
  typed?: string
  write(values: Values): Promise<Output>
  /** Query that is read again afterwards; without it all that is shown. */
  refresh?: QueryKey
  onDone?(output: Output): void
  children?: ReactNode
}

/** A write, after which what it changed is read again. */
const useRefreshing = <Input, Output>(
  write: (input: Input) => Promise<Output>,
  { refresh = [], onDone }: Pick<AskProps<Output>, 'refresh' | 'onDone'>,
  onError?: (error: Error) => void,
) => {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: write,
    onError,
    onSuccess: (output) => {
      onDone?.(output)
      void queries.invalidateQueries({ queryKey: refresh })
    },
  })
}

/** A dialog that asks for what a write needs, shows issues at their fields, and closes once it is done. */
export const Ask = <Output,>(props: AskProps<Output> & { onClose(): void }) => {
  const { title, action, variant = 'primary', typed, dismiss, drawer, onClose } = props
  const form = useId()
  const fieldsOf = (values: Values): readonly FieldSpec[] => [
    ...(typeof props.fields === 'function' ? props.fields(values) : (props.fields ?? [])),
    ...(typed === undefined ? [] : [confirmField(typed)]),
  ]
  const [values, setValues] = useState<Values>(() =>
    Object.fromEntries(fieldsOf({}).map(({ name, value = '' }) => [name, value])),
  )
  const fields = fieldsOf(values)
  const onDone = (output: Output): void => {
    onClose()
    props.onDone?.(output)
  }
  const sent = useRefreshing(props.write, { ...props, onDone })
  const pointers = fields.map(({ name }) => `/${name}`)
  const issues = sortIssues(sent.error, pointers)
  const isWhole = fields.every(({ name, isOptional, mustBe }) =>
    mustBe === undefined ? isOptional || values[name]?.trim() : values[name] === mustBe,
  )
  // With a field in focus Enter would send at once what can be sent as it stands.
  const [wasWhole] = useState(isWhole)
  const send = (event: FormEvent): void => {
    event.preventDefault()
    if (isWhole && !sent.isPending) sent.mutate(values)
  }
  const button = (
    <Button
      variant={variant}
      type="submit"
      form={form}
      isPending={sent.isPending}
      isDisabled={!isWhole}
    >
      {action}
    </Button>
  )
  return (
    <Dialog {...{ title, onClose, dismiss, drawer }} actions={button}>
      <form id={form} onSubmit={send}>
        <Stack>
          {props.children}
          {fields.map((field, index) => (
            <Field
              key={field.name}
              field={field}
              isFirst={index === 0 && !wasWhole}
              values={values}
              error={issues.fields[`/${field.name}`]}
              onChange={(value) => setValues((before) => ({ ...before, [field.name]: value }))}
            />
          ))}
          {props.effect?.(values)}
          {sent.error && <ErrorPanel error={sent.error} rest={issues.rest} />}
        </Stack>
      </form>
    </Dialog>
  )
}

type AskButtonProps<Output> = Omit<AskProps<Output>, 'action'> & { label: string; action?: string }

/** A button that asks before it writes; its label is title and action, too, where they say no more. */
export const AskButton = <Output,>({ label, ...props }: AskButtonProps<Output>) => {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button variant={props.variant} onPress={() => setOpen(true)}>
        {label}
      </Button>
      {isOpen && <Ask title={label} action={label} {...props} onClose={() => setOpen(false)} />}
    </>
  )
}

type WriteButtonProps<Output> = Pick<AskProps<Output>, 'refresh' | 'onDone'> & {
  label: string
  isDisabled?: boolean
  write(): Promise<Output>
}

export const report = (error: Error): void =>
  void showToast(<Bdi>{inPlainWords(error.message)}</Bdi>)

/** A button that writes at once; a toast reports a rejection. */
export const WriteButton = <Output,>(props: WriteButtonProps<Output>) => {
  const { label, isDisabled } = props
  const sent = useRefreshing<void, Output>(props.write, props, report)
  return (
    <Button onPress={() => sent.mutate()} isPending={sent.isPending} isDisabled={isDisabled}>
      {label}
    </Button>
  )
}

type SecretButtonProps<Output> = Omit<AskButtonProps<Output>, 'onDone'> & {
  secretTitle: string
  secretOf(output: Output): string
  /** Place where the secret belongs. */
  about?: ReactNode | ((secret: string) => ReactNode)
}

/** A button that asks, and shows the secret that comes of it this once: it lives in this component's state, and nowhere else. */
export const SecretButton = <Output,>(props: SecretButtonProps<Output>) => {
  const { secretTitle, secretOf, about, ...asked } = props
  const [secret, setSecret] = useState<string>()
  return (
    <>
      <AskButton {...asked} onDone={(output) => setSecret(secretOf(output))} />
      {secret !== undefined && (
        <SecretDialog title={secretTitle} secret={secret} onClose={() => setSecret(undefined)}>
          {typeof about === 'function' ? about(secret) : about}
        </SecretDialog>
      )}
    </>
  )
}

interface SecretDialogProps {
  title: string
  secret: string
  onClose(): void
  children?: ReactNode
}

/** Shows a secret that is not kept. */
export const SecretDialog = ({ title, secret, onClose, children }: SecretDialogProps) => (
  <Dialog title={title} onClose={onClose}>
    <Note tone="warn">{t('Copy it now: you won’t be able to see it again.')}</Note>
    <Code text={secret} label={t('secret')} />
    {children}
  </Dialog>
)
