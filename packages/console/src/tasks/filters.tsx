import { useNavigate, useSearch } from '@tanstack/react-router'

import { useMe } from '../api/queries.ts'
import { titleOf } from '../try/kinds.ts'
import { useChangeSearch } from '../ui/address.ts'
import { Button } from '../ui/button.tsx'
import { SearchField, Select, TextField } from '../ui/fields.tsx'
import { TASK_KINDS, TASK_STATES, type TaskFilter } from './list-rows.ts'
import styles from './tasks.module.css'

const OPEN = 'waiting,queued,running'

/** Filters of the list. They live in the address, so that they can be sent to somebody. */
export const Filters = () => {
  const filter = useSearch({ from: '/tasks' })
  const change = useChangeSearch()
  const navigate = useNavigate()
  const isAdmin = useMe()?.isAdmin === true
  const propsOf = (name: keyof TaskFilter) => ({
    value: filter[name],
    onChange: (value: string | undefined) => change({ [name]: value || undefined }),
  })
  const dayOf = (name: 'from' | 'to') => ({
    ...propsOf(name),
    value: filter[name]?.slice(0, 10) ?? '',
    type: 'date',
    isLabelHidden: true,
  })
  const { owner } = filter
  return (
    <div className={`stack tight ${styles.filters}`} role="search" aria-label="Tasks">
      <SearchField
        label="Text in the prompt"
        placeholder="Prompt"
        pause={PAUSE_MS}
        {...propsOf('q')}
      />
      <Choice label="Kind" any="All kinds" values={TASK_KINDS} {...propsOf('kind')} />
      <Choice
        label="State"
        any="All states"
        values={[OPEN, ...TASK_STATES]}
        {...propsOf('state')}
      />
      <div className={`row ${styles.days}`}>
        <TextField label="From" {...dayOf('from')} />
        –
        <TextField label="To" {...dayOf('to')} />
      </div>
      {isAdmin && <Choice label="Whose" any="My tasks" values={['*']} {...propsOf('owner')} />}
      {isAdmin && owner !== undefined && (
        <SearchField
          label="Owner"
          pause={PAUSE_MS}
          value={owner === '*' ? undefined : owner}
          onChange={(owner = '*') => change({ owner })}
        />
      )}
      {Object.values(filter).some(Boolean) && (
        <Button variant="quiet" onPress={() => void navigate({ to: '/tasks', replace: true })}>
          Clear
        </Button>
      )}
    </div>
  )
}

/** Milliseconds after the last key: a search of tasks costs more than one of the registry. */
const PAUSE_MS = 250

interface ChoiceProps {
  label: string
  any: string
  values: readonly string[]
  value: string | undefined
  onChange(value: string): void
}

const LABELS: Record<string, string> = { [OPEN]: 'not ended', '*': 'Tasks of all' }

/** One of the values, or all; one that the address brought is there, too. */
const Choice = ({ label, any, values, value = '', onChange }: ChoiceProps) => {
  const labelOf = (one: string): string => (one === '' ? any : (LABELS[one] ?? titleOf(one)))
  const options = [...new Set(['', ...values, value])]
  return (
    <Select
      label={label}
      isLabelHidden
      options={options.map((one) => [one, labelOf(one)])}
      value={value}
      onChange={onChange}
    />
  )
}
