import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { ComponentProps } from 'react'

import { useMe } from '../api/queries.ts'
import { titleOf } from '../try/kinds.ts'
import { templatesQuery } from '../try/queries.ts'
import { useChangeSearch } from '../ui/address.ts'
import { SearchField, Select } from '../ui/fields.tsx'
import { FilterBar } from '../ui/filter-bar.tsx'
import { periodOptions } from '../ui/period.ts'
import { wordsOf } from '../words/states.ts'
import { t } from '../words/translate.ts'
import { TASK_KINDS, TASK_STATES, type TaskFilter } from './list-rows.ts'
import { sentence } from '../try/words.ts'

/** States of tasks that have not ended. */
export const OPEN = 'waiting,queued,running'
const STATES = [OPEN, ...TASK_STATES]

export const Filters = () => {
  const filter: TaskFilter = useSearch({ from: '/tasks' })
  const change = useChangeSearch()
  const navigate = useNavigate()
  const { q, ...others } = filter
  const count = Object.values(others).filter(Boolean).length
  const isSet = q !== undefined || count > 0
  const clear = (): void => void navigate({ to: '/tasks', replace: true })
  const prompt = (
    <SearchField
      label={t('Text in the prompt')}
      placeholder={t('Prompt')}
      {...SLOW}
      value={q}
      onChange={(text) => change({ q: text })}
    />
  )
  return (
    <FilterBar label={t('Tasks')} first={prompt} count={count} onClear={isSet ? clear : undefined}>
      <Choices filter={filter} />
    </FilterBar>
  )
}

const Choices = ({ filter }: { filter: TaskFilter }) => {
  const change = useChangeSearch()
  const isAdmin = useMe()?.isAdmin === true
  const templates = useQuery(templatesQuery).data?.templates ?? []
  const kinds = [...TASK_KINDS, ...templates.map(({ kind }) => kind)]
  const { owner, from } = filter
  const propsOf = (name: keyof TaskFilter) => ({
    value: filter[name],
    onChange: (value: string | undefined) => change({ [name]: value || undefined }),
  })
  return (
    <>
      <Choice label={t('Kind')} any={t('All kinds')} values={kinds} {...propsOf('kind')} />
      <Choice label={t('State')} any={t('All states')} values={STATES} {...propsOf('state')} />
      <Select
        label={t('Created')}
        isLabelHidden
        options={periodOptions(from)}
        value={from ?? ''}
        onChange={(next) => change({ from: next || undefined, to: undefined })}
      />
      <SearchField
        label={t('Label')}
        placeholder={t('Label key:value')}
        {...SLOW}
        {...propsOf('label')}
      />
      {isAdmin && (
        <Choice label={t('Whose')} any={t('Mine')} values={['*']} {...propsOf('owner')} />
      )}
      {isAdmin && owner !== undefined && (
        <SearchField
          label={t('Owner')}
          {...SLOW}
          value={owner === '*' ? undefined : owner}
          onChange={(text = '*') => change({ owner: text })}
        />
      )}
    </>
  )
}

/** Milliseconds after the last key: a search of tasks costs more than one of the registry. */
const SLOW = { pause: 250 }

type ChoiceProps = Pick<ComponentProps<typeof Select<string>>, 'label' | 'value' | 'onChange'> & {
  any: string
  values: readonly string[]
}

const LABELS: Readonly<Record<string, string>> = { [OPEN]: t('Active'), '*': t('Everyone’s') }

const nameOf = (one: string): string =>
  TASK_STATES.includes(one) ? sentence(wordsOf(one).word) : titleOf(one)

/** One of the values, or all; one that the address brought is there, too. */
const Choice = ({ any, values, value = '', ...props }: ChoiceProps) => {
  const labelOf = (one: string): string => (one === '' ? any : (LABELS[one] ?? nameOf(one)))
  const all = [...new Set(['', ...values, value])]
  const options = all.map((one) => [one, labelOf(one)] as const)
  return <Select {...props} isLabelHidden options={options} value={value} />
}
