import { useQuery } from '@tanstack/react-query'
import { useState, type CSSProperties } from 'react'

import { readQuery, type Schema } from '../api/client.ts'
import { creditsQuery, serviceQuery, useMe } from '../api/queries.ts'
import { readText } from '../tasks/queries.ts'
import { titleOf } from '../try/kinds.ts'
import { Bars } from '../ui/bars.tsx'
import { DownloadButton } from '../ui/download.tsx'
import { Segments, TextField } from '../ui/fields.tsx'
import { Facts, Loading, Panel, Row, Show, Stack } from '../ui/panels.tsx'
import { Rows } from '../ui/rows.tsx'
import { Bdi, Bytes } from '../ui/values.tsx'
import { showNumber } from '../words/language.ts'
import { aboutCredits, showBytes, showSeconds, showTimes } from '../words/text.ts'
import { t } from '../words/translate.ts'
import { makeBars, sumOf, type Measure, type Step, type Sums } from './usage-bars.ts'

const PERIODS = { month: t('30 days'), quarter: t('90 days'), year: t('A year') }
const DAYS = { month: 30, quarter: 90, year: 365 }
type Period = keyof typeof PERIODS
const STEPS: Record<Period, Step> = { month: 'day', quarter: 'week', year: 'month' }
const BY_STEP: Record<Step, readonly [title: string, ofBars: string]> = {
  day: [t('By day'), t('{measure} by day')],
  week: [t('By week'), t('{measure} by week')],
  month: [t('By month'), t('{measure} by month')],
}
const TITLES: Record<Measure, string> = {
  tasks: t('Tasks'),
  credits: t('Credits'),
  seconds: t('Rendering'),
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
  const [title, ofBars] = BY_STEP[step]
  return (
    <Stack>
      <Segments
        label={t('Period')}
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
            <Panel title={title} actions={<Csv from={from} by="day" />}>
              <Segments
                label={t('Show')}
                isLabelHidden
                options={TITLES}
                value={measure}
                onChange={(next) => setMeasure(next)}
              />
              <Bars
                label={t(ofBars, { measure: TITLES[measure] })}
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
    label={t('Download CSV')}
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
  <Panel title={t('Used')}>
    <Facts
      of={{
        [t('Tasks')]: t('{total}, {failed} failed', {
          total: showNumber(sumOf(tasks)),
          failed: showNumber(tasks.failed),
        }),
        [t('Credits')]: showNumber(credits),
        [t('Rendering')]: showSeconds(seconds),
        [t('Stored')]: <Bytes count={bytes} />,
      }}
    />
  </Panel>
)

/** Credits and slots of the caller, and what holds for every owner. */
const Limits = () => {
  const { limits } = useQuery(serviceQuery).data ?? {}
  return (
    <Panel title={t('Limits')}>
      <Show query={useQuery(creditsQuery)} loading={<Loading rows={1} />}>
        {({ remains: [usage] }) =>
          usage && (
            <Facts
              of={{
                [t('Credits')]:
                  `${aboutCredits(usage)}${usage.credit_remain === null ? '' : `. ${t('They do not renew.')}`}`,
                [t('Videos at once')]: t('{used} of {total}', {
                  used: usage.current_concurrency,
                  total: usage.concurrency_limit,
                }),
                [t('Videos waiting')]: String(usage.queue_count),
                [t('Open tasks')]:
                  limits && t('at most {count}', { count: showNumber(limits.open_tasks) }),
                [t('Stored')]:
                  limits && t('at most {count}', { count: showBytes(limits.stored_bytes) }),
              }}
            />
          )
        }
      </Show>
      <p className="soft small">
        {t('An operator may have set others for you.')}{' '}
        <a href="/docs/limits-and-errors#limits">{t('Read the guide')}</a>
      </p>
    </Panel>
  )
}

const BY = { kind: t('Kind'), label: t('Label'), key: t('API key') }
type By = keyof typeof BY | 'owner'
const LABEL = /^[a-z0-9][a-z0-9._-]{0,62}$/

/** The same by kind, by the values of a label, by API key, or for platform admins by owner. */
const Groups = ({ from }: { from: string }) => {
  const isAdmin = useMe()?.isAdmin === true
  const [chosen, setChosen] = useState<By>('kind')
  const [label, setLabel] = useState('')
  const by = chosen === 'label' ? `label:${label}` : chosen
  const isKnown = chosen !== 'label' || LABEL.test(label)
  return (
    <Panel title={t('Breakdown')} actions={isKnown && <Csv from={from} by={by} />}>
      <Row>
        <Segments<By>
          label={t('By|group')}
          isLabelHidden
          options={
            { ...BY, ...(isAdmin && { owner: t('Owner, of everyone') }) } as Record<By, string>
          }
          value={chosen}
          onChange={setChosen}
        />
        {chosen === 'label' && (
          <TextField
            label={t('Label')}
            help={t('Group by label, for example project.')}
            value={label}
            onChange={setLabel}
          />
        )}
      </Row>
      {isKnown && <Table from={from} by={by} />}
    </Panel>
  )
}

const Table = ({ from, by }: { from: string; by: string }) => (
  <Show query={useQuery(readQuery('/usage', { query: { from, by } }))}>
    {({ groups }) => (
      <Rows
        label={t('Usage')}
        rows={groups}
        empty={t('No tasks ended in this period.')}
        columns={{
          [t('Name')]: ({ group, name = by === 'kind' ? titleOf(group) : group }: Group) => (
            <Bdi>{name}</Bdi>
          ),
          [t('Tasks')]: ({ tasks }) => showNumber(sumOf(tasks)),
          [t('Failed')]: ({ tasks }) => showNumber(tasks.failed),
          [t('Credits')]: ({ credits }) => showNumber(credits),
          [t('Rendering')]: ({ engine_seconds: seconds }) => showSeconds(seconds),
          [t('Wait, median · 95 %')]: ({ waiting }) => showTimes(waiting),
          [t('Run, median · 95 %')]: ({ running }) => showTimes(running),
        }}
      />
    )}
  </Show>
)
