import { useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { CheckboxGroup } from 'react-aria-components/CheckboxGroup'

import { issueOf } from '../api/issues.ts'
import { pause } from '../../../client/src/lib/pause.ts'
import { t } from '../words/translate.ts'
import { Button, IconButton } from './button.tsx'
import { Checkbox, listOf, Select, TextField, type Options } from './fields.tsx'
import { PictureField, type PictureSpec } from './picture-field.tsx'
import { Badge } from './values.tsx'

/** A field of a form that is written down as data. */
export interface FieldSpec {
  /** Place in the body: `/${name}` is its JSON Pointer. */
  name: string
  label: string
  /** May follow what is typed. */
  help?: ReactNode | ((values: Values) => ReactNode)
  /** Initial value. */
  value?: string
  isOptional?: boolean
  /** The only text that will do. */
  mustBe?: string
  /** Lines of a text. */
  rows?: number
  isNumber?: boolean
  /** Asks the service while one types; its rejection stands at the field. */
  check?(value: string, signal: AbortSignal): Promise<unknown>
  /** A date and time of the clock beside the screen: `localTime`, and back by `instantOf`. */
  isTime?: boolean
  options?: Options<string>
  /** Texts to choose from, beside any other. */
  suggestions?: readonly string[]
  /** Some of these, by the titles of their groups: the value has a line for each. */
  many?: Readonly<Record<string, Options<string>>>
  /** A picture, by a file or its address. */
  picture?: PictureSpec
  /** Words that are added one by one: the value has a line for each. */
  chips?: boolean
}

export type Values = Readonly<Record<string, string>>

/** The field of a word that is typed by hand, so that nothing is done by a slip. */
export const confirmField = (mustBe: string): FieldSpec => ({
  name: 'typed',
  label: t('Type {mustBe} to confirm', { mustBe }),
  mustBe,
})

export const linesOf = (value = ''): string[] => value.split('\n').filter(Boolean)

/** Fields with the values that a record has now. */
export const filledWith = (record: object, fields: readonly FieldSpec[]): FieldSpec[] =>
  fields.map((field) => {
    const now: unknown = (record as Record<string, unknown>)[field.name]
    const isText = typeof now === 'string' || typeof now === 'number'
    return { ...field, value: Array.isArray(now) ? now.join('\n') : isText ? String(now) : '' }
  })

/** Body of an update: what differs from the initial values, so that changes by others stay. */
export const changesIn = (fields: readonly FieldSpec[], values: Values): object =>
  Object.fromEntries(
    fields
      .filter(({ name, value = '' }) => values[name] !== value)
      .map((field) => [field.name, bodyValue(field, values[field.name] ?? '')]),
  )

const bodyValue = ({ many, chips, isNumber }: FieldSpec, value: string): unknown => {
  if (many || chips) return linesOf(value)
  // The service says at the field what is no number.
  return isNumber && value.trim() !== '' && !Number.isNaN(Number(value)) ? Number(value) : value
}

interface AskedFieldProps {
  field: FieldSpec
  isFirst: boolean
  values: Values
  error: string | undefined
  onChange(value: string): void
}

/** Milliseconds without a key, after which a value is checked. */
const PAUSE_MS = 300

/** The issue of what is typed; the check of an older value ends. */
const useCheck = ({ name, check }: FieldSpec, value = ''): string | undefined => {
  const query = useQuery({
    queryKey: ['check', name, value],
    queryFn: async ({ signal }) => {
      await pause(PAUSE_MS, signal)
      return (await check?.(value, signal)) ?? null
    },
    enabled: check !== undefined && value !== '',
  })
  return issueOf(query.error)
}

export const Field = ({ field, isFirst, values, ...props }: AskedFieldProps) => {
  const issue = useCheck(field, values[field.name])
  const { label, name, rows, options, isNumber, isTime } = field
  // What has a value, and what is edited, is left as it is.
  const isMarked = field.isOptional === true && field.value === undefined
  const common = {
    ...props,
    error: issue ?? props.error,
    value: values[name] ?? '',
    help: typeof field.help === 'function' ? field.help(values) : field.help,
    label: isMarked ? t('{label} (optional)', { label }) : label,
  }
  if (options) return <Select {...common} options={options} />
  if (field.many) return <Some {...common} many={field.many} />
  if (field.chips) return <Chips {...common} />
  if (field.picture) return <PictureField {...common} label={label} picture={field.picture} />
  const inputMode = isNumber ? 'numeric' : undefined
  const { suggestions } = field
  const type = isTime ? 'datetime-local' : 'text'
  return <TextField {...common} {...{ rows, suggestions, inputMode, type }} autoFocus={isFirst} />
}

interface ListFieldProps {
  label: string
  help: ReactNode
  error: string | undefined
  value: string
  onChange(value: string): void
}

type SomeProps = ListFieldProps & { many: NonNullable<FieldSpec['many']> }

const Some = ({ label, help, error, value, onChange, many }: SomeProps) => {
  const groups = Object.entries(many)
  const all = groups.flatMap(([, options]) => listOf(options).map(([one]) => one))
  const isWhole = all.every((one) => linesOf(value).includes(one))
  return (
    <CheckboxGroup
      aria-label={label}
      className="stack tight"
      value={linesOf(value)}
      onChange={(chosen) => onChange(all.filter((one) => chosen.includes(one)).join('\n'))}
    >
      <div className="row apart">
        <strong>{label}</strong>
        {groups.length > 1 && (
          <Button variant="quiet" onPress={() => onChange(isWhole ? '' : all.join('\n'))}>
            {isWhole ? t('Clear') : t('Select all')}
          </Button>
        )}
      </div>
      {groups.map(([title, options]) => (
        <div key={title} className={groups.length > 1 ? 'stack tight' : 'row'}>
          {title && <span className="soft small">{title}</span>}
          {listOf(options).map(([one, text]) => (
            <Checkbox key={one} value={one} label={text} />
          ))}
        </div>
      ))}
      {help && <span className="soft small">{help}</span>}
      {error && <span className="bad small">{error}</span>}
    </CheckboxGroup>
  )
}

const Chips = ({ value, onChange, ...props }: ListFieldProps) => {
  const [text, setText] = useState('')
  const [words, setWords] = useState(() => linesOf(value))
  // What is typed and not added yet counts, too: nothing moves below the pointer that is on its way to the button.
  const change = (chosen: readonly string[], typed: string): void => {
    setWords([...chosen])
    setText(typed)
    onChange([...new Set([...chosen, typed.trim()])].filter(Boolean).join('\n'))
  }
  return (
    <div className="stack tight">
      <TextField
        {...props}
        placeholder={t('Type one and press Enter')}
        value={text}
        onChange={(typed) => change(words, typed)}
        onKeyDown={(event) => {
          if ((event.key !== 'Enter' && event.key !== ',') || text.trim() === '') return
          event.preventDefault()
          change([...new Set([...words, text.trim()])], '')
        }}
      />
      {words.length > 0 && (
        <ul className="row" aria-label={t('{label} chosen', { label: props.label })}>
          {words.map((word) => (
            <li key={word} className="row">
              <Badge>{word}</Badge>
              <IconButton
                label={t('Remove {word}', { word })}
                onPress={() =>
                  change(
                    words.filter((one) => one !== word),
                    text,
                  )
                }
              >
                <X aria-hidden />
              </IconButton>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
