import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { RotateCcw } from 'lucide-react'
import { useState, type ComponentProps, type ReactNode } from 'react'
import { ToggleButton } from 'react-aria-components/ToggleButton'

import { ownLink } from '../api/links.ts'
import { taskQuery } from '../tasks/queries.ts'
import { IconButton } from '../ui/button.tsx'
import { Segments, Select, Slider, Switch, TextField } from '../ui/fields.tsx'
import { ErrorPanel, Stack } from '../ui/panels.tsx'
import { Tile } from '../ui/values.tsx'
import { t } from '../words/translate.ts'
import { FileField } from './files.tsx'
import { FEW, optionsFor, withoutEmpty, type Control, type Field } from './form.ts'
import { titleOf } from './kinds.ts'
import { videosQuery } from './queries.ts'
import type { Body, JsonSchema } from './schema.ts'
import styles from './try.module.css'
import { presetOf, unsetWord, wordOf } from './words.ts'

/** Props that all fields of a form share. */
export interface Form {
  schema: JsonSchema
  body: Body
  /** The same with all defaults. */
  full: Body
  /** By pointer. */
  issues: Readonly<Record<string, string>>
  /** The field that takes what is pasted. */
  pasteInto: string | undefined
  onChange(name: string, value: unknown): void
}

type FieldProps = { field: Field; form: Form }

/** A member of the body by the control that its schema asks for; what was changed can be put back. */
export const FieldRow = ({ field, form }: FieldProps) => {
  const { name, label, preset, control, isRequired } = field
  const isSet =
    form.body[name] !== undefined &&
    control.is !== 'files' &&
    control.is !== 'group' &&
    !(control.is === 'choice' && isRequired)
  return (
    <div className={styles.field}>
      <Input field={field} form={form} />
      {isSet && (
        <span className={styles.reset}>
          <IconButton
            label={
              preset === undefined
                ? t('Clear {label}', { label })
                : t('Reset {label} to {value}', { label, value: textOf(preset) })
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

const Input = ({ field, form }: FieldProps): ReactNode => {
  const { name, label, help, preset, pointer, control } = field
  const value = form.body[name] ?? preset
  const set = (next: unknown): void => form.onChange(name, next === preset ? undefined : next)
  const common = { label, help, error: form.issues[pointer] }
  const exact = {
    inputMode: 'decimal' as const,
    value: textOf(value),
    onChange: (text: string) => set(numberOf(text)),
  }
  switch (control.is) {
    case 'files':
      if (name === 'video_url') return <Source field={field} form={form} />
      return <Files field={field} control={control} form={form} />
    case 'group':
      return <Group field={field} members={control.fields} form={form} />
    case 'choice':
      return <ChoiceField field={field} form={form} />
    case 'switch': {
      const isDisabled = optionsFor(form.schema, field, form.body).length < 2
      const isSelected = value === true
      return <Switch {...common} {...{ isSelected, isDisabled }} onChange={set} />
    }
    case 'text':
      return (
        <TextField
          {...common}
          rows={control.rows || undefined}
          maxLength={control.maxLength}
          value={textOf(value)}
          onChange={(text) => set(text || undefined)}
        />
      )
    case 'lines': {
      const read = control.isNumeric ? numberOf : String
      return (
        <TextField
          {...common}
          rows={3}
          value={[value ?? []].flat().map(textOf).join('\n')}
          onChange={(text) =>
            set(text === '' ? undefined : text.split('\n').map((line) => read(line)))
          }
        />
      )
    }
    case 'labels':
      return <LabelsField {...common} value={value as Labels | undefined} onChange={set} />
    case 'number':
      return <TextField {...common} {...exact} />
    case 'range': {
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
          <TextField {...exact} label={label} isLabelHidden />
        </div>
      )
    }
  }
}

type Labels = Readonly<Record<string, string>>
type LabelsProps = Pick<ComponentProps<typeof TextField>, 'label' | 'error'> & {
  value: Labels | undefined
  onChange(labels: Labels | undefined): void
}

/** Labels by lines, each `key: value`; one without a value is still being written. */
const LabelsField = ({ value = {}, onChange, ...props }: LabelsProps) => {
  const [text, setText] = useState(() => writeLabels(value))
  const shown =
    JSON.stringify(readLabels(text)) === JSON.stringify(value) ? text : writeLabels(value)
  return (
    <TextField
      {...props}
      help={t('One on each line, as key: value. The list of tasks can be filtered by them.')}
      rows={2}
      value={shown}
      onChange={(next) => {
        setText(next)
        onChange(withoutEmpty({ labels: readLabels(next) })['labels'] as Labels | undefined)
      }}
    />
  )
}

const writeLabels = (labels: Labels): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}: ${value}`)
    .join('\n')

const readLabels = (text: string): Labels =>
  Object.fromEntries(
    text.split('\n').flatMap((line) => {
      const [, key, value] = /^\s*([^:\s]+):\s*(.*?)\s*$/.exec(line) ?? []
      return key === undefined || value === undefined ? [] : [[key, value]]
    }),
  )

const textOf = (value: unknown): string =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value)

/** Parses a number; text that is none yet, such as `1.`, is left for the dry run to validate. */
const numberOf = (text: string): number | string | undefined => {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  return Number.isNaN(Number(trimmed)) || trimmed.endsWith('.') ? trimmed : Number(trimmed)
}

const ChoiceField = ({ field, form }: FieldProps) => {
  const { name, label, help, preset, isRequired, pointer, description } = field
  const choices = optionsFor(form.schema, field, form.body)
  const options = choices.map((choice) => [String(choice), wordOf(name, choice)] as const)
  const own = presetOf(name, description, form.full)
  if (preset === undefined && !isRequired) options.unshift(['', unsetWord(name, own, choices)])
  const value = textOf(form.body[name] ?? preset)
  const onChange = (text: string): void => {
    const choice = choices.find((one) => String(one) === text)
    form.onChange(name, choice === preset ? undefined : choice)
  }
  const props = { label, help, error: form.issues[pointer], options, onChange }
  const OneOf = options.length <= FEW ? Segments : Select
  return <OneOf {...props} value={value === '' && isRequired ? undefined : value} />
}

type FilesProps = FieldProps & { control: Extract<Control, { is: 'files' }> }

/** One picture, or the places of a list of them: all, or one more than are given where it may have fewer. */
const Files = ({ field, control: { least, count: max, isList, accept }, form }: FilesProps) => {
  const { name, label, help, pointer } = field
  const links = [form.body[name] ?? []].flat() as string[]
  const isOpen = least < max
  const count = isOpen ? Math.min(max, links.length + 1) : max
  const put = (place: number, link: string | undefined): void => {
    if (!isList) return form.onChange(name, link)
    const next = Array.from({ length: count }, (_, at) => (at === place ? link : links[at]) ?? '')
    const given = isOpen ? next.filter(Boolean) : next
    form.onChange(name, given.some(Boolean) ? given : undefined)
  }
  const free = links.findIndex((link) => link === '')
  return Array.from({ length: count }, (_, place) => (
    <FileField
      key={isOpen ? `${place} ${links[place]}` : place}
      label={isOpen ? `${label} ${place + 1}` : labelOfPlace(label, place, max)}
      help={place === count - 1 ? help : ''}
      error={place === 0 ? form.issues[pointer] : undefined}
      accept={accept}
      value={links[place] || undefined}
      onChange={(link) => put(place, link)}
      takesPaste={
        form.pasteInto === name && place === (free >= 0 ? free : Math.min(links.length, count - 1))
      }
    />
  ))
}

const labelOfPlace = (label: string, place: number, count: number): string =>
  count === 1 ? label : ([t('First frame'), t('Last frame')][place] ?? label)

/** The video to extend: one of the caller's own, or another by file or address. */
const Source = ({ field, form }: FieldProps) => {
  const queries = useQueryClient()
  const videos = useQuery(videosQuery).data?.tasks ?? []
  const chosen = form.body['video_creation_id']
  const choose = (id: string | undefined, link: string | undefined): void => {
    // An id of no video: the address counts.
    form.onChange('video_creation_id', id ?? (link && 'none'))
    form.onChange('video_url', link)
  }
  const pick = useMutation({
    mutationFn: async (id: string) => await queries.fetchQuery(taskQuery(id)),
    onSuccess: ({ task_id: id, results: [result] }) => choose(id, result?.url),
  })
  return (
    <Stack>
      {videos.length > 0 && (
        <div className={styles.videos} role="group" aria-label={t('Your videos')}>
          <strong>{t('Your videos')}</strong>
          {videos.map(({ task_id: id, kind, prompt, thumbnail_url: src }) => (
            <ToggleButton
              key={id}
              className={styles.tile}
              aria-label={t('Extend {prompt}', { prompt: prompt ?? titleOf(kind) })}
              isSelected={chosen === id}
              onChange={() => pick.mutate(id)}
            >
              <Tile src={ownLink(src)} name={titleOf(kind)} size={80} />
            </ToggleButton>
          ))}
        </div>
      )}
      {pick.error && <ErrorPanel error={pick.error} />}
      <FileField
        label={field.label}
        help={t('One of your videos, or any of 4 to 60 s.')}
        error={form.issues[field.pointer] ?? form.issues['/video_creation_id']}
        accept="video/*"
        value={form.body[field.name] as string | undefined}
        onChange={(link) => choose(undefined, link)}
        takesPaste={form.pasteInto === field.name}
      />
    </Stack>
  )
}

const Group = ({ field, members, form }: FieldProps & { members: readonly Field[] }) => {
  const { name, label, pointer } = field
  const body = (form.body[name] ?? {}) as Body
  const onChange = (member: string, value: unknown): void =>
    form.onChange(name, withoutEmpty({ ...body, [member]: value }))
  return (
    <More title={label} open={isWrong([`${pointer}/`], form)}>
      {members.map((member) => (
        <FieldRow key={member.name} field={member} form={{ ...form, schema: {}, body, onChange }} />
      ))}
    </More>
  )
}

/** True when an issue is at one of the pointers or below. */
export const isWrong = (pointers: readonly string[], { issues }: Form): boolean =>
  Object.keys(issues).some((issue) => pointers.some((pointer) => issue.startsWith(pointer)))

/** Fields that few need; open by itself where something in it is wrong. */
export const More = ({ title, open, children }: ComponentProps<'details'>) => (
  <details className={styles.more} open={open || undefined}>
    <summary className="strong">{title}</summary>
    <Stack>{children}</Stack>
  </details>
)
