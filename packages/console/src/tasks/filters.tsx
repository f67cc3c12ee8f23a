import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { SlidersHorizontal } from 'lucide-react'
import { useState, type ComponentProps } from 'react'

import { useMe } from '../api/queries.ts'
import { titleOf } from '../try/kinds.ts'
import { templatesQuery } from '../try/queries.ts'
import { useChangeSearch } from '../ui/address.ts'
import { Button } from '../ui/button.tsx'
import { SearchField, Select } from '../ui/fields.tsx'
import { Dialog } from '../ui/layers.tsx'
import { Stack } from '../ui/panels.tsx'
import { TASK_KINDS, TASK_STATES, type TaskFilter } from './list-rows.ts'
import styles from './tasks.module.css'

/** States of tasks that have not ended. */
export const OPEN = 'waiting,queued,running'
const STATES = [OPEN, ...TASK_STATES]

/** Filters of the list, on a phone behind a button. They live in the address, so that they can be sent to somebody. */
export const Filters = () => {
  const filter: TaskFilter = useSearch({ from: '/tasks' })
  const change = useChangeSearch()
  const navigate = useNavigate()
  const [isOpen, setOpen] = useState(false)
  const { q, ...others } = filter
  const count = Object.values(others).filter(Boolean).length
  return (
    <div className={`stack tight ${styles.filters}`} role="search" aria-label="Tasks">
      <SearchField
        label="Text in the prompt"
        placeholder="Prompt"
        {...SLOW}
        value={q}
        onChange={(text) => change({ q: text })}
      />
      <div className={`screen ${styles.choices}`}>
        <Choices filter={filter} />
      </div>
      <div className="phone">
        <Button onPress={() => setOpen(true)}>
          <SlidersHorizontal aria-hidden />
          Filters{count > 0 && ` (${count})`}
        </Button>
      </div>
      {(q !== undefined || count > 0) && (
        <Button variant="quiet" onPress={() => void navigate({ to: '/tasks', replace: true })}>
          Clear
        </Button>
      )}
      {isOpen && (
        <Dialog title="Filters" onClose={() => setOpen(false)}>
          <Stack>
            <Choices filter={filter} />
          </Stack>
        </Dialog>
      )}
    </div>
  )
}

const Choices = ({ filter }: { filter: TaskFilter }) => {
  const change = useChangeSearch()
  const isAdmin = useMe()?.isAdmin === true
  const templates = useQuery(templatesQuery).data?.templates ?? []
  const kinds = [...TASK_KINDS, ...templates.map(({ kind }) => kind)]
  const { owner, from } = filter
  const periods = Object.fromEntries(
    Object.entries(PERIODS).map(([days, label]) => [dayBefore(days), label]),
  )
  const propsOf = (name: keyof TaskFilter) => ({
    value: filter[name],
    onChange: (value: string | undefined) => change({ [name]: value || undefined }),
  })
  return (
    <>
      <Choice label="Kind" any="All kinds" values={kinds} {...propsOf('kind')} />
      <Choice label="State" any="All states" values={STATES} {...propsOf('state')} />
      <Choice
        {...propsOf('from')}
        label="Created"
        any="Any time"
        values={Object.keys(periods)}
        labels={from === undefined ? periods : { [from]: `Since ${from.slice(0, 10)}`, ...periods }}
        onChange={(next) => change({ from: next || undefined, to: undefined })}
      />
      <SearchField
        label="Label"
        placeholder="Label, as key:value"
        {...SLOW}
        {...propsOf('label')}
      />
      {isAdmin && <Choice label="Whose" any="Mine" values={['*']} {...propsOf('owner')} />}
      {isAdmin && owner !== undefined && (
        <SearchField
          label="Owner"
          {...SLOW}
          value={owner === '*' ? undefined : owner}
          onChange={(text = '*') => change({ owner: text })}
        />
      )}
    </>
  )
}

/** Periods by the days before today with which they begin. */
const PERIODS = { 0: 'Today', 6: 'Last 7 days', 29: 'Last 30 days' }

const dayBefore = (days: string): string => {
  const day = new Date()
  day.setDate(day.getDate() - Number(days))
  // Swedish dates are those of ISO.
  return day.toLocaleDateString('sv')
}

/** Milliseconds after the last key: a search of tasks costs more than one of the registry. */
const SLOW = { pause: 250 }

type ChoiceProps = Pick<ComponentProps<typeof Select<string>>, 'label' | 'value' | 'onChange'> & {
  any: string
  values: readonly string[]
  labels?: Readonly<Record<string, string>>
}

const LABELS = { [OPEN]: 'Active', '*': 'Everyone’s' }

/** One of the values, or all; one that the address brought is there, too. */
const Choice = ({ any, values, labels = LABELS, value = '', ...props }: ChoiceProps) => {
  const labelOf = (one: string): string => (one === '' ? any : (labels[one] ?? titleOf(one)))
  const all = [...new Set(['', ...values, value])]
  const options = all.map((one) => [one, labelOf(one)] as const)
  return <Select {...props} isLabelHidden options={options} value={value} />
}
