import { useNavigate, useSearch } from '@tanstack/react-router'
import type { ComponentProps } from 'react'

import { useMe } from '../api/queries.ts'
import { titleOf } from '../try/kinds.ts'
import { useChangeSearch } from '../ui/address.ts'
import { Button } from '../ui/button.tsx'
import { SearchField, Select, TextField } from '../ui/fields.tsx'
import { TASK_KINDS, TASK_STATES, type TaskFilter } from './list-rows.ts'
import styles from './tasks.module.css'

const OPEN = 'waiting,queued,running'
const STATES = [OPEN, ...TASK_STATES]

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
      <SearchField label="Text in the prompt" placeholder="Prompt" {...SLOW} {...propsOf('q')} />
      <Choice label="Kind" any="All kinds" values={TASK_KINDS} {...propsOf('kind')} />
      <Choice label="State" any="All states" values={STATES} {...propsOf('state')} />
      <div className={`row ${styles.days}`}>
        <TextField label="From" {...dayOf('from')} />
        –
        <TextField label="To" {...dayOf('to')} />
      </div>
      {isAdmin && <Choice label="Whose" any="Mine" values={['*']} {...propsOf('owner')} />}
      {isAdmin && owner !== undefined && (
        <SearchField
          label="Owner"
          {...SLOW}
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
const SLOW = { pause: 250 }

type ChoiceProps = Pick<ComponentProps<typeof Select<string>>, 'label' | 'value' | 'onChange'> & {
  any: string
  values: readonly string[]
}

const LABELS: Record<string, string> = { [OPEN]: 'Active', '*': 'Everyone’s' }

/** One of the values, or all; one that the address brought is there, too. */
const Choice = ({ any, values, value = '', ...props }: ChoiceProps) => {
  const labelOf = (one: string): string => (one === '' ? any : (LABELS[one] ?? titleOf(one)))
  const all = [...new Set(['', ...values, value])]
  const options = all.map((one) => [one, labelOf(one)] as const)
  return <Select {...props} isLabelHidden options={options} value={value} />
}
