import { useEffect, useState } from 'react'

import { useMe } from '../api/queries.ts'
import { KINDS, titleOf } from '../try/kinds.ts'
import { Button } from '../ui/button.tsx'
import { Select, TextField } from '../ui/fields.tsx'
import type { TaskFilter } from './list-rows.ts'
import styles from './tasks.module.css'

const ANY = ''
const OPEN = 'waiting,queued,running'
/** Videos that began with pictures are listed as text2video. */
const KIND_IDS = KINDS.map(({ id }) => id).filter((id) => !/^(img|start)/.test(id))
const STATES = ['waiting', 'queued', 'running', 'done', 'failed', 'cancelled']
/** Milliseconds after the last key. */
const PAUSE_MS = 250

interface FiltersProps {
  filter: TaskFilter
  onChange(change: TaskFilter): void
}

/** What the list is narrowed to. It lives in the address, so that it can be sent to somebody. */
export const Filters = ({ filter, onChange }: FiltersProps) => {
  const isAdmin = useMe()?.isAdmin === true
  const { kind, state, from, to, q, owner } = filter
  const date = { type: 'date', isLabelHidden: true } as const
  return (
    <div className={styles.filters} role="search" aria-label="Tasks">
      <TypedField label="Text in the prompt" isSearch value={q} onChange={(q) => onChange({ q })} />
      <Choice
        label="Kind"
        any="All kinds"
        values={KIND_IDS}
        value={kind}
        onChange={(kind) => onChange({ kind })}
      />
      <Choice
        label="State"
        any="All states"
        values={[OPEN, ...STATES]}
        value={state}
        onChange={(state) => onChange({ state })}
      />
      <div className={styles.days}>
        <TextField
          {...date}
          label="From"
          value={from?.slice(0, 10) ?? ''}
          onChange={(day) => onChange({ from: day || undefined })}
        />
        –
        <TextField
          {...date}
          label="To"
          value={to?.slice(0, 10) ?? ''}
          onChange={(day) => onChange({ to: day || undefined })}
        />
      </div>
      {isAdmin && (
        <Choice
          label="Whose"
          any="My tasks"
          values={['*']}
          value={owner}
          onChange={(owner) => onChange({ owner })}
        />
      )}
      {isAdmin && owner !== undefined && (
        <TypedField
          label="Owner"
          value={owner === '*' ? undefined : owner}
          onChange={(owner = '*') => onChange({ owner })}
        />
      )}
      {Object.values(filter).some(Boolean) && (
        <Button look="quiet" onPress={() => onChange(NOTHING)}>
          Clear
        </Button>
      )}
    </div>
  )
}

const NOTHING: TaskFilter = Object.fromEntries(
  ['kind', 'state', 'from', 'to', 'q', 'owner'].map((name) => [name, undefined]),
)

interface FieldProps {
  label: string
  value: string | undefined
  onChange(value: string | undefined): void
}

const LABELS: Record<string, string> = { [OPEN]: 'not ended', '*': 'Tasks of all' }

/** One of the values, or all; one that the address brought is there, too. */
const Choice = ({
  any,
  values,
  value,
  onChange,
  ...props
}: FieldProps & { any: string; values: readonly string[] }) => (
  <Select
    {...props}
    isLabelHidden
    options={[
      { value: ANY, label: any },
      ...[...new Set([...values, ...(value ? [value] : [])])].map((one) => ({
        value: one,
        label: LABELS[one] ?? titleOf(one),
      })),
    ]}
    value={value ?? ANY}
    onChange={(chosen) => onChange(chosen || undefined)}
  />
)

/** A text that counts once nobody types. */
const TypedField = ({ value = '', onChange, ...props }: FieldProps & { isSearch?: boolean }) => {
  const [typed, setTyped] = useState(value)
  const [known, setKnown] = useState(value)
  // The Back button, or Clear, has changed it.
  if (value !== known) {
    setKnown(value)
    setTyped(value)
  }
  useEffect(() => {
    if (typed === value) return undefined
    const timer = setTimeout(() => onChange(typed || undefined), PAUSE_MS)
    return () => clearTimeout(timer)
    // What is typed counts, not each new function of the page.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [typed])
  return (
    <TextField
      {...props}
      isLabelHidden
      placeholder={props.label}
      maxLength={200}
      value={typed}
      onChange={setTyped}
    />
  )
}
