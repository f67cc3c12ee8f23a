import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { readQuery, type Schema } from '../api/client.ts'
import { linePoints } from '../operations/samples.ts'
import { titleOf } from '../try/kinds.ts'
import { Segments, TextField } from '../ui/fields.tsx'
import { Panel, Row, Show, Stack } from '../ui/panels.tsx'
import { Rows } from '../ui/rows.tsx'
import { Bdi, Bytes } from '../ui/values.tsx'
import { counted, showSeconds } from '../words/text.ts'

const PERIODS = { month: '30 days', quarter: '90 days', year: 'A year' }
const DAYS = { month: 30, quarter: 90, year: 365 }
type Period = keyof typeof PERIODS
const DAY_MS = 86_400_000

type Sums = Schema<'Usage'>['total']
type Group = Schema<'Usage'>['groups'][number]

/** Sums of the caller's ended tasks: a line by day, and a table by kind or by the values of a label. */
export const Usage = () => {
  const [period, setPeriod] = useState<Period>('month')
  const [label, setLabel] = useState('')
  const [now] = useState(() => Date.now())
  const from = new Date(now - (DAYS[period] - 1) * DAY_MS).toISOString().slice(0, 10)
  const by = /^[a-z0-9][a-z0-9._-]{0,62}$/.test(label) ? `label:${label}` : 'kind'
  const byDay = useQuery(readQuery('/usage', { query: { from, by: 'day' } }))
  const grouped = useQuery(readQuery('/usage', { query: { from, by } }))
  return (
    <Stack>
      <Segments
        label="Period"
        options={PERIODS}
        value={period}
        onChange={(next) => setPeriod(next)}
      />
      <Show query={byDay}>
        {(usage) => (
          <Panel title="By day">
            <Days usage={usage} />
            <Totals sums={usage.total} />
          </Panel>
        )}
      </Show>
      <Panel title={by === 'kind' ? 'By kind' : `By ${label}`}>
        <TextField
          label="Label"
          help="Group by label, for example project."
          value={label}
          onChange={setLabel}
        />
        <Show query={grouped}>
          {({ groups }) => (
            <Rows
              label="Usage"
              rows={groups}
              empty="No tasks ended in this period."
              columns={{
                [by === 'kind' ? 'Kind' : 'Value']: ({ group }: Group) => (
                  <Bdi>{by === 'kind' ? titleOf(group) : group}</Bdi>
                ),
                Tasks: ({ tasks }) => sumOf(tasks).toLocaleString('en'),
                Failed: ({ tasks }) => tasks.failed.toLocaleString('en'),
                Credits: ({ credits }) => credits.toLocaleString('en'),
                Rendering: ({ engine_seconds: seconds }) => showSeconds(seconds),
                'Median wait': ({ waiting }) => showTime(waiting.p50),
                'Median run': ({ running }) => showTime(running.p50),
                '95 % run': ({ running }) => showTime(running.p95),
                Stored: ({ stored_bytes: bytes }) => <Bytes count={bytes} />,
              }}
            />
          )}
        </Show>
      </Panel>
    </Stack>
  )
}

const sumOf = ({ done, failed, cancelled }: Sums['tasks']): number => done + failed + cancelled

const showTime = (seconds: number | null): string => (seconds === null ? '–' : showSeconds(seconds))

const SIZE = { width: 640, height: 96 }

/** Tasks of each day as a line; days without any are zero. */
const Days = ({ usage: { from, to, groups, total } }: { usage: Schema<'Usage'> }) => {
  const byDay = new Map(groups.map(({ group, tasks }) => [group, sumOf(tasks)]))
  const [first, last] = [Date.parse(from), Date.parse(to)]
  const samples = Array.from({ length: (last - first) / DAY_MS + 1 }, (_, index) => {
    const at = first + index * DAY_MS
    return { at, value: byDay.get(new Date(at).toISOString().slice(0, 10)) ?? 0 }
  })
  return (
    <svg
      viewBox={`0 0 ${SIZE.width} ${SIZE.height}`}
      width="100%"
      role="img"
      aria-label={`${counted(sumOf(total.tasks), 'task')} in ${samples.length} days`}
    >
      <polyline
        points={linePoints(samples, SIZE)}
        fill="none"
        stroke="var(--accent)"
        strokeWidth={2}
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  )
}

const Totals = ({ sums }: { sums: Sums }) => {
  const { tasks, credits, engine_seconds: seconds, stored_bytes: bytes } = sums
  return (
    <Row>
      <span>{counted(sumOf(tasks), 'task')}</span>
      <span className="soft">{counted(credits, 'credit')}</span>
      <span className="soft">{showSeconds(seconds)} of rendering</span>
      <span className="soft">
        <Bytes count={bytes} /> stored
      </span>
    </Row>
  )
}
