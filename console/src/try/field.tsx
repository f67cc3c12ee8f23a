import { RotateCcw } from 'lucide-react'
import type { ReactNode } from 'react'

import { IconButton } from '../ui/button.tsx'
import { Segments, Select, Slider, Switch, TextField } from '../ui/fields.tsx'
import { FileField } from './files.tsx'
import { optionsFor, withoutEmpty } from './form.ts'
import type { Choice, Field } from './form.ts'
import type { Body, JsonSchema } from './schema.ts'
import styles from './try.module.css'

/** What all fields of a form share. */
export interface Form {
  schema: JsonSchema
  body: Body
  /** By pointer. */
  faults: Readonly<Record<string, string>>
  /** The field that takes what is pasted. */
  pasteInto: string | undefined
  onChange(name: string, value: unknown): void
}

interface FieldProps {
  field: Field
  form: Form
}

/** A member of the body by the control that its schema asks for; what was changed can be put back. */
export const FieldRow = ({ field, form }: FieldProps) => {
  const { name, label, preset, control } = field
  const isSet = form.body[name] !== undefined && control.is !== 'files' && control.is !== 'group'
  return (
    <div className={styles.row}>
      <Input field={field} form={form} />
      {isSet && (
        <span className={styles.reset}>
          <IconButton
            label={preset === undefined ? `Clear ${label}` : `Reset ${label} to ${textOf(preset)}`}
            onPress={() => form.onChange(name, undefined)}
          >
            <RotateCcw aria-hidden />
          </IconButton>
        </span>
      )}
    </div>
  )
}

const Input = ({ field, form }: FieldProps): ReactNode => {
  const { name, label, help, preset, pointer, control } = field
  const error = form.faults[pointer]
  const value = form.body[name] ?? preset
  const common = { label, help, error }
  const set = (next: unknown): void => form.onChange(name, next === preset ? undefined : next)
  if (control.is === 'files') return <Files field={field} form={form} />
  if (control.is === 'group') return <Group field={field} form={form} />
  if (control.is === 'choice') return <ChoiceField field={field} form={form} />
  if (control.is === 'switch')
    return (
      <>
        <Switch
          label={label}
          isSelected={value === true}
          isDisabled={optionsFor(form.schema, field, form.body).length < 2}
          onChange={set}
        />
        <p className={styles.soft}>{help}</p>
        {error && <p className={styles.bad}>{error}</p>}
      </>
    )
  if (control.is === 'text')
    return (
      <TextField
        {...common}
        rows={control.rows || undefined}
        maxLength={control.maxLength}
        value={textOf(value)}
        onChange={(text) => set(text || undefined)}
      />
    )
  const exact = {
    label,
    inputMode: 'decimal' as const,
    value: textOf(value),
    onChange: (text: string) => set(numberOf(text)),
  }
  if (control.is === 'number') return <TextField {...common} {...exact} />
  const { min, max, step } = control
  // A slider for the rough value, a field for the exact one.
  return (
    <div className={styles.range}>
      <Slider
        {...common}
        minValue={min}
        maxValue={max}
        step={step}
        value={Math.max(min, Math.min(max, Number(value) || 0))}
        onChange={set}
      />
      <TextField {...exact} isLabelHidden />
    </div>
  )
}

const textOf = (value: unknown): string =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value)

/** What is no number yet, such as `1.`, is left for the dry run to judge. */
const numberOf = (text: string): number | string | undefined => {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  return Number.isNaN(Number(trimmed)) || trimmed.endsWith('.') ? trimmed : Number(trimmed)
}

/** So many choices stand beside each other. */
const FEW = 4

const ChoiceField = ({ field, form }: FieldProps) => {
  const { name, label, help, preset, isRequired, pointer } = field
  const choices = optionsFor(form.schema, field, form.body)
  const options = [
    ...(preset === undefined && !isRequired ? [{ value: '', label: 'by default' }] : []),
    ...choices.map((choice) => ({ value: String(choice), label: wordOf(choice) })),
  ]
  const value = textOf(form.body[name] ?? preset)
  const onChange = (text: string): void => {
    const choice = choices.find((one) => String(one) === text)
    form.onChange(name, choice === preset ? undefined : choice)
  }
  const props = { label, help, error: form.faults[pointer], options, onChange }
  const Control = options.length <= FEW ? Segments : Select
  return <Control {...props} value={value === '' && isRequired ? undefined : value} />
}

const wordOf = (choice: Choice): string => {
  if (typeof choice === 'boolean') return choice ? 'on' : 'off'
  return String(choice).replaceAll('_', ' ')
}

/** One picture, or the places of a list of them. */
const Files = ({ field: { name, label, help, pointer, control }, form }: FieldProps) => {
  if (control.is !== 'files') return null
  const { count, isList, accept } = control
  const links = [form.body[name] ?? []].flat() as string[]
  const put = (place: number, link: string | undefined): void => {
    if (!isList) return form.onChange(name, link)
    const next = Array.from({ length: count }, (_, at) => (at === place ? link : links[at]))
    // A list has no holes: the second alone is the first.
    form.onChange(name, next.filter(Boolean))
  }
  return Array.from({ length: count }, (_, place) => (
    <FileField
      key={place}
      label={count === 1 ? label : `${label}, ${place + 1} of ${count}`}
      help={place === count - 1 ? help : ''}
      error={place === 0 ? form.faults[pointer] : undefined}
      accept={accept}
      value={links[place]}
      onChange={(link) => put(place, link)}
      takesPaste={form.pasteInto === name && place === Math.min(links.length, count - 1)}
    />
  ))
}

const Group = ({ field: { name, label, pointer, control }, form }: FieldProps) => {
  if (control.is !== 'group') return null
  const body = (form.body[name] ?? {}) as Body
  const onChange = (member: string, value: unknown): void =>
    form.onChange(name, withoutEmpty({ ...body, [member]: value }))
  return (
    <More title={label} isOpen={isWrong([`${pointer}/`], form)}>
      {control.fields.map((field) => (
        <FieldRow key={field.name} field={field} form={{ ...form, schema: {}, body, onChange }} />
      ))}
    </More>
  )
}

/** Whether a fault is at one of the pointers, or below. */
export const isWrong = (pointers: readonly string[], { faults }: Form): boolean =>
  Object.keys(faults).some((fault) => pointers.some((pointer) => fault.startsWith(pointer)))

/** Fields that few need; open by itself where something in it is wrong. */
export const More = ({
  title,
  isOpen,
  children,
}: {
  title: string
  isOpen: boolean
  children: ReactNode
}) => (
  <details className={styles.more} open={isOpen || undefined}>
    <summary>{title}</summary>
    <div className={styles.form}>{children}</div>
  </details>
)
