import { useQuery } from '@tanstack/react-query'

import { readQuery, send, type Data } from '../api/client.ts'
import { Actions, type Action } from '../ui/actions.tsx'
import { filledWith, type FieldSpec } from '../ui/ask-field.tsx'
import { AskButton } from '../ui/ask.tsx'
import { Panel } from '../ui/panels.tsx'
import { Rows } from '../ui/rows.tsx'
import { Bdi, Time } from '../ui/values.tsx'
import { showNumber } from '../words/language.ts'
import { t } from '../words/translate.ts'

type Owner = Data<'/admin/owners'>['owners'][number]

const ownersQuery = readQuery('/admin/owners', {})

const number = (name: string, label: string, help?: string): FieldSpec => ({
  name,
  label,
  isNumber: true,
  isOptional: true,
  ...(help !== undefined && { help }),
})

export const ENGINES = ['local', 'vendor', 'comfyui'] as const

/** Limits that an admin sets; an empty one is that of the settings. */
const LIMITS: readonly FieldSpec[] = [
  number('slots', t('Videos at once')),
  number('credit_limit', t('Credits')),
  number('task_limit', t('Open tasks')),
  number('byte_limit', t('Bytes kept')),
  number('rate_factor', t('Factor of requests'), t('2: twice as many requests.')),
  {
    name: 'engine',
    label: t('Engine'),
    isOptional: true,
    options: [['', t('the default')], ...ENGINES],
  },
  { name: 'note', label: t('Note'), isOptional: true, rows: 2 },
]

/** Owners with limits of their own, and the way to set them. */
export const Owners = () => {
  const { data } = useQuery(ownersQuery)
  return (
    <Panel title={t('Limits of owners')} actions={<AskButton {...setLimits()} />}>
      <Rows
        label={t('Limits of owners')}
        rows={data?.owners ?? []}
        empty={t('All owners have the default limits')}
        columns={{
          [t('Owner')]: ({ owner, note }) => (
            <div>
              <Bdi as="strong">{owner}</Bdi> <Bdi className="soft small">{note}</Bdi>
            </div>
          ),
          [t('Slots')]: ({ slots: max, used }) => showUse(used.slots, max),
          [t('Credits')]: ({ credit_limit: max, used }) => showUse(used.credits, max),
          [t('Open tasks')]: ({ task_limit: max, used }) => showUse(used.tasks, max),
          [t('Bytes')]: ({ byte_limit: max, used }) => showUse(used.bytes, max),
          [t('Requests')]: ({ rate_factor: factor }) => factor !== undefined && `× ${factor}`,
          [t('Engine')]: ({ engine }) => engine,
          [t('Set')]: ({ set_by: by, set_at: at }) => (
            <>
              <Time at={at} /> <Bdi>{by}</Bdi>
            </>
          ),
          '': (owner) => (
            <Actions
              label={t('More for {owner}', { owner: owner.owner })}
              actions={[
                setLimits(owner),
                {
                  label: t('Reset'),
                  title: t('Reset {owner} to the default limits?', { owner: owner.owner }),
                  write: () =>
                    send('DELETE', '/admin/owners/{owner}', { path: { owner: owner.owner } }),
                },
              ]}
            />
          ),
        }}
      />
    </Panel>
  )
}

/** `270 of 5,000`; `270 used` where the limit is that of the settings. */
const showUse = (used: number, max: number | undefined): string =>
  max === undefined
    ? t('{used} used', { used: showNumber(used) })
    : t('{used} of {total}', { used: showNumber(used), total: showNumber(max) })

const ID: FieldSpec = { name: 'owner', label: t('Owner'), help: t('Id of a user.') }

/** Sets the limits of an owner, or of the one whose id is typed. */
const setLimits = (owner?: Owner): Action => ({
  label: owner ? t('Change') : t('Set limits'),
  title: owner ? t('Limits of {owner}', { owner: owner.owner }) : t('Set the limits of an owner'),
  action: t('Set limits'),
  drawer: true,
  fields: owner ? filledWith(owner, LIMITS) : [ID, ...LIMITS],
  write: ({ owner: id = '', ...values }) => {
    const given = Object.entries(values).filter(([, value]) => value !== '')
    const body = Object.fromEntries(
      given.map(([name, value]) => [name, isText(name) ? value : Number(value)]),
    )
    const path = { owner: owner?.owner ?? id.trim() }
    return send('PUT', '/admin/owners/{owner}', { path, body })
  },
})

const isText = (name: string): boolean => name === 'engine' || name === 'note'
