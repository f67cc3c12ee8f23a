import { useQuery } from '@tanstack/react-query'
import { useState, type CSSProperties } from 'react'

import { readQuery, type Schema } from '../api/client.ts'
import { creditsQuery, useMe } from '../api/queries.ts'
import { readText } from '../tasks/queries.ts'
import { titleOf } from '../try/kinds.ts'
import { Bars } from '../ui/bars.tsx'
import { DownloadButton } from '../ui/download.tsx'
import { Segments, TextField } from '../ui/fields.tsx'
import { Facts, Loading, Panel, Row, Show, Stack } from '../ui/panels.tsx'
import { Listing, Rows } from '../ui/rows.tsx'
import { Bdi, Bytes } from '../ui/values.tsx'
import { aboutCredits, counted, showSeconds, showTimes } from '../words/text.ts'
import { makeBars, sumOf, type Measure, type Step, type Sums } from './usage-bars.ts'

const PERIODS = { month: t('30 days'), quarter: t('90 days'), year: t('A year') }
const DAYS = { month: 30, quarter: 90, year: 365 }
type Period = keyof typeof PERIODS
const STEPS: Record<Period, Step> = { month: 'day', quarter: 'week', year: 'month' }
const BY_STEP: Record<Step, string> = {
  day: t('By day'),
  week: t('By week'),
  month: t('By month'),
}
const TITLES: Record<Measure, string> = {
  tasks: 'Tasks',
  credits: 'Credits',
  seconds: 'Rendering',
}
const DAY_MS = 86_400_000

type Group = Schema<'Usage'>['groups'][number]

/** Use by the caller's ended tasks: beside the limits, over time, and by what they are. */
export const Usage = () => {
  const [period, setPeriod] = useState<Period>('month')
  const [measure, setMeasure] = useState<Measure>('tasks')
  const [now] = useState(() => Date.now())
  const from = new Date(now - (DAYS[period] - 1) * DAY_MS).toISOString().slice(0, 10)
  const step = STEPS[period]
  return (
    <Stack>
      <Segments
        label="Period"
        options={PERIODS}
        value={period}
        onChange={(next) => setPeriod(next)}
      />
      <Show query={useQuery(readQuery('/usage', { query: { from, by: 'day' } }))}>
        {(usage) => (
          <>
            <div className="columns" style={{ '--least': '280px' } as CSSProperties}>
              <Totals sums={usage.total} />
              <Limits />
            </div>
            <Panel title={BY_STEP[step]} actions={<Csv from={from} by="day" />}>
              <Segments
                label="Show"
                isLabelHidden
                options={TITLES}
                value={measure}
                onChange={(next) => setMeasure(next)}
              />
              <Bars
                label={`${TITLES[measure]}, ${inSentence(BY_STEP[step])}`}
                bars={makeBars(usage, { step, measure })}
              />
            </Panel>
          </>
        )}
      </Show>
      <Groups from={from} />
    </Stack>
  )
}

const Csv = ({ from, by }: { from: string; by: string }) => (
  <DownloadButton
    label="Download CSV"
    name={`usage-by-${by.replace(':', '-')}-from-${from}.csv`}
    type="text/csv"
    read={() => readText('/usage', { query: { from, by }, accept: 'text/csv' })}
  />
)

const Totals = ({
  sums: { tasks, credits, engine_seconds: seconds, stored_bytes: bytes },
}: {
  sums: Sums
}) => (
  <Panel title="Used">
    <Facts
      of={{
        [t('Tasks')]: t('{total}, {failed} failed', {
          total: showNumber(sumOf(tasks)),
          failed: showNumber(tasks.failed),
        }),
        Credits: credits.toLocaleString('en'),
        Rendering: showSeconds(seconds),
        Stored: <Bytes count={bytes} />,
      }}
    />
  </Panel>
)

/** Credits and slots of the caller. */
const Limits = () => (
  <Panel title="Limits">
    <Show query={useQuery(creditsQuery)} loading={<Loading rows={1} />}>
      {({ remains: [usage] }) =>
        usage && (
          <Facts
            of={{
              Credits: aboutCredits(usage),
              [t('Videos at once')]: t('{used} of {total}', {
                used: usage.current_concurrency,
                total: usage.concurrency_limit,
              }),
              'Videos waiting': String(usage.queue_count),
            }}
          />
        )
      }
    </Show>
  </Panel>
)

const BY = { kind: 'Kind', label: 'Label', key: 'API key' }
type By = keyof typeof BY | 'owner'
const LABEL = /^[a-z0-9][a-z0-9._-]{0,62}$/

/** The same by kind, by the values of a label, by API key, or for platform admins by owner. */
const Groups = ({ from }: { from: string }) => {
  const isAdmin = useMe()?.isAdmin === true
  const [chosen, setChosen] = useState<By>('kind')
  const [label, setLabel] = useState('')
  const by = chosen === 'label' ? `label:${label}` : chosen
  const isKnown = chosen !== 'key' && (chosen !== 'label' || LABEL.test(label))
  return (
    <Panel title="Breakdown" actions={isKnown && <Csv from={from} by={by} />}>
      <Row>
        <Segments<By>
          label={t('By|group')}
          isLabelHidden
          options={{ ...BY, ...(isAdmin && { owner: 'Owner, of everyone' }) } as Record<By, string>}
          value={chosen}
          onChange={setChosen}
        />
        {chosen === 'label' && (
          <TextField
            label="Label"
            help="Group by label, for example project."
            value={label}
            onChange={setLabel}
          />
        )}
      </Row>
      {chosen === 'key' && <Keys />}
      {isKnown && <Table from={from} by={by} />}
    </Panel>
  )
}

const Table = ({ from, by }: { from: string; by: string }) => (
  <Show query={useQuery(readQuery('/usage', { query: { from, by } }))}>
    {({ groups }) => (
      <Rows
        label="Usage"
        rows={groups}
        empty="No tasks ended in this period."
        columns={{
          Name: ({ group }: Group) => <Bdi>{by === 'kind' ? titleOf(group) : group}</Bdi>,
          Tasks: ({ tasks }) => sumOf(tasks).toLocaleString('en'),
          Failed: ({ tasks }) => tasks.failed.toLocaleString('en'),
          Credits: ({ credits }) => credits.toLocaleString('en'),
          Rendering: ({ engine_seconds: seconds }) => showSeconds(seconds),
          'Wait, half · 95 %': ({ waiting }) => showTimes(waiting),
          'Run, half · 95 %': ({ running }) => showTimes(running),
        }}
      />
    )}
  </Show>
)

/** Credits by key, which the service counts where a key has a limit of its own, from its creation on. */
const Keys = () => (
  <>
    <p className="soft">Counted since each key was created, for keys with “Most credits”.</p>
    <Listing
      label="Usage by API key"
      query={useQuery(readQuery('/users/api-keys', {}))}
      empty="No API keys."
      columns={{
        Name: ({ name }) => <Bdi>{name}</Bdi>,
        Credits: ({ credit_cap: cap, credits_used: used = 0 }) =>
          cap === undefined
            ? 'not counted'
            : creditsOf(used, cap),
      }}
    />
  </>
)
