import { useQuery } from '@tanstack/react-query'

import { readQuery, send, type Data } from '../api/client.ts'
import { AskButton } from '../ui/ask.tsx'
import { Panel } from '../ui/panels.tsx'
import { Rows } from '../ui/rows.tsx'
import { Badge, Bdi, Time } from '../ui/values.tsx'

type Pause = Data<'/admin/pauses'>['pauses'][number]

const pausesQuery = readQuery('/admin/pauses', {}, { refetchInterval: 5000 })

/** List of what is paused, by an admin or because an engine fails, and the way to pause and resume. */
export const Pauses = () => {
  const { data } = useQuery(pausesQuery)
  return (
    <Panel title="Paused" actions={<PauseButton />}>
      <Rows
        label="Pauses"
        rows={data?.pauses ?? []}
        empty="Nothing is paused"
        columns={{
          Scope: ({ scope }) => <Bdi as="code">{scope}</Bdi>,
          Why: ({ breaker, reason, paused_by: by }) =>
            breaker ? (
              <Badge tone="bad">
                {breaker === 'open' ? 'the engine fails' : 'one task tries the engine'}
              </Badge>
            ) : (
              <>
                <Bdi>{reason}</Bdi>{' '}
                <Bdi as="span" className="soft small">
                  {by}
                </Bdi>
              </>
            ),
          Since: ({ paused_at: at }) => <Time at={at} />,
          Until: ({ until }) => <Time at={until} />,
          '': (pause) => <Resume pause={pause} />,
        }}
      />
    </Panel>
  )
}

const PauseButton = () => (
  <AskButton
    label="Pause"
    title="Pause what begins"
    action="Pause"
    fields={[
      {
        name: 'scope',
        label: 'Scope',
        value: 'all',
        help: 'all, engine:vendor, kind:upscale, owner:<id> or host:<host of webhook URLs>',
      },
      { name: 'reason', label: 'Reason', isOptional: true, help: 'Callers can read it.' },
      { name: 'minutes', label: 'Minutes', isOptional: true, isNumber: true, help: UNTIL },
    ]}
    write={({ scope = '', reason, minutes }) => {
      const until = minutes && new Date(Date.now() + Number(minutes) * 60_000).toISOString()
      const body = { ...(reason && { reason }), ...(until && { until }) }
      return send('PUT', '/admin/pauses/{scope}', { path: { scope: scope.trim() }, body })
    }}
  >
    <p>Tasks are still taken and wait. What runs ends. Checks of versions go on.</p>
  </AskButton>
)

const UNTIL = 'After which it resumes by itself; empty: until you resume it.'

const Resume = ({ pause: { scope, breaker } }: { pause: Pause }) => (
  <AskButton
    label="Resume"
    title={`Resume ${scope}?`}
    action="Resume"
    write={() => send('DELETE', '/admin/pauses/{scope}', { path: { scope } })}
  >
    <p>
      {breaker
        ? 'All its tasks try at once. It is paused again when they fail.'
        : 'What waits begins now.'}
    </p>
  </AskButton>
)
