import { ChevronRight, RotateCcw } from 'lucide-react'
import type { ReactNode } from 'react'
import { Disclosure, DisclosurePanel } from 'react-aria-components/Disclosure'
import { Heading } from 'react-aria-components/Heading'

import { Button, IconButton } from '../ui/button.tsx'
import { Segments, Select, Slider, Switch, TextField } from '../ui/fields.tsx'
import { FileField } from './files.tsx'
import { optionsFor } from './form.ts'
import type { Choice, Field } from './form.ts'
import type { Body, JsonSchema } from './schema.ts'
import styles from './try.module.css'

/** What all fields of a form share. */
export interface Form {
  schema: JsonSchema
  body: Body
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
  const isChanged =
    form.body[name] !== undefined && control.is !== 'files' && control.is !== 'group'
  return (
    <div className={styles.row}>
      <FieldControl field={field} form={form} />
      {isChanged && (
        <span className={styles.reset}>
          <IconButton
            label={
              preset === undefined
                ? `Clear ${label}`
                : `Reset ${label} to ${wordOf(preset as Choice)}`
            }
            onPress={() => form.onChange(name, undefined)}
          >
            <RotateCcw aria-hidden />
          </IconButton>
        </span>
      )}
    </div>
  )
}

const FieldControl = ({ field, form }: FieldProps): ReactNode => {
  const { name, label, help, preset, pointer, control } = field
  const error = form.faults[pointer]
  const value = form.body[name]
  const set = (next: unknown): void => form.onChange(name, next === preset ? undefined : next)
  switch (control.is) {
    case 'files':
      return <Files field={field} form={form} />
    case 'group':
      return <Group field={field} form={form} />
    case 'choice':
      return <ChoiceField field={field} form={form} />
    case 'switch':
      return (
        <div className={styles.switch}>
          <Switch
            label={label}
            isSelected={(value ?? preset) === true}
            isDisabled={optionsFor(form.schema, field, form.body).length < 2}
            onChange={set}
          />
          <span className={styles.soft}>{help}</span>
          {error && <span className={styles.bad}>{error}</span>}
        </div>
      )
    case 'range':
    case 'number':
      return <NumberControl field={field} form={form} onChange={set} />
    default:
      return (
        <TextField
          label={label}
          help={help}
          error={error}
          rows={control.rows || undefined}
          maxLength={control.maxLength}
          value={typeof value === 'string' ? value : ''}
          onChange={(text) => set(text === '' ? undefined : text)}
        />
      )
  }
}

/** A slider for the rough value and a field for the exact one; what is no number is left to the dry run to judge. */
const NumberControl = ({
  field: { name, label, help, pointer, preset, control },
  form,
  onChange,
}: FieldProps & { onChange(value: unknown): void }) => {
  const value = form.body[name] ?? preset
  const exact = (isLabelHidden: boolean): ReactNode => (
    <TextField
      label={label}
      isLabelHidden={isLabelHidden}
      help={isLabelHidden ? undefined : help}
      error={isLabelHidden ? undefined : form.faults[pointer]}
      inputMode="decimal"
      value={textOf(value)}
      onChange={(text) => onChange(numberOf(text))}
    />
  )
  if (control.is !== 'range') return exact(false)
  const { min, max, step } = control
  return (
    <div className={styles.range}>
      <Slider
        label={label}
        help={help}
        error={form.faults[pointer]}
        minValue={min}
        maxValue={max}
        step={step}
        value={Math.max(min, Math.min(max, Number(value) || 0))}
        onChange={onChange}
      />
      {exact(true)}
    </div>
  )
}

const numberOf = (text: string): number | string | undefined => {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  // `1.` is on the way to a number.
  return Number.isNaN(Number(trimmed)) || trimmed.endsWith('.') ? trimmed : Number(trimmed)
}

const UNSET = ''
const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : UNSET
/** So many choices stand beside each other. */
const FEW = 4

const ChoiceField = ({ field, form }: FieldProps) => {
  const { name, label, help, preset, isRequired, pointer } = field
  const options = optionsFor(form.schema, field, form.body)
  const value = textOf(form.body[name] ?? preset)
  const all = [
    ...(preset === undefined && !isRequired ? [{ value: UNSET, label: 'by default' }] : []),
    ...options.map((option) => ({ value: String(option), label: wordOf(option) })),
  ]
  const props = {
    label,
    help,
    error: form.faults[pointer],
    options: all,
    value: value === UNSET && isRequired ? undefined : value,
    onChange: (text: string) => {
      const chosen = options.find((option) => String(option) === text)
      form.onChange(name, chosen === preset ? undefined : chosen)
    },
  }
  return all.length <= FEW ? <Segments {...props} /> : <Select {...props} />
}

const wordOf = (value: Choice): string => {
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  return String(value).replaceAll('_', ' ')
}

/** One picture, or the places of a list of them. */
const Files = ({ field, form }: FieldProps) => {
  const { name, label, help, pointer, control } = field
  if (control.is !== 'files') return null
  const links = [form.body[name] ?? []].flat() as (string | undefined)[]
  const put = (place: number, link: string | undefined): void => {
    if (!control.isList) return form.onChange(name, link)
    const next = Array.from({ length: control.count }, (_, at) => (at === place ? link : links[at]))
    // A list has no holes: the second alone is the first.
    form.onChange(name, next.filter(Boolean))
  }
  return Array.from({ length: control.count }, (_, place) => (
    <FileField
      key={place}
      label={control.count === 1 ? label : `${label}, ${place + 1} of ${control.count}`}
      help={place === control.count - 1 ? help : ''}
      error={place === 0 ? form.faults[pointer] : undefined}
      accept={control.accept}
      value={links[place] || undefined}
      onChange={(link) => put(place, link)}
      takesPaste={form.pasteInto === name && place === Math.min(links.length, control.count - 1)}
    />
  ))
}

const Group = ({ field, form }: FieldProps) => {
  const { name, label, control } = field
  const inner = (form.body[name] ?? {}) as Body
  return control.is !== 'group' ? null : (
    <More title={label} count={Object.keys(inner).length}>
      {control.fields.map((one) => (
        <FieldRow
          key={one.name}
          field={one}
          form={{
            ...form,
            schema: {},
            body: inner,
            onChange: (member, value) => form.onChange(name, { ...inner, [member]: value }),
          }}
        />
      ))}
    </More>
  )
}

/** Fields that few need, and how many of them are set. */
export const More = ({
  title,
  count,
  children,
}: {
  title: string
  count: number
  children: ReactNode
}) => (
  <Disclosure className={styles.more}>
    <Heading level={3}>
      <Button slot="trigger" look="quiet">
        <ChevronRight aria-hidden />
        {title}
        {count > 0 && ` (${count} set)`}
      </Button>
    </Heading>
    <DisclosurePanel className={styles.inner}>{children}</DisclosurePanel>
  </Disclosure>
)
