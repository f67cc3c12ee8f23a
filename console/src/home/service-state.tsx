import { useQuery } from '@tanstack/react-query'

import { serviceQuery } from '../api/queries.ts'
import { Badge } from '../ui/badge.tsx'
import { Fact, Facts, Panel, Show } from '../ui/panels.tsx'
import { readyQuery } from './queries.ts'

const STATES = {
  ready: ['ok', 'ready'],
  degraded: ['warn', 'goes on with a part away'],
  unready: ['bad', 'not ready'],
} as const

/** How the service and what it stands on are. */
export const ServiceState = () => {
  const { data: service } = useQuery(serviceQuery)
  return (
    <Panel title="Service" actions={<a href="/docs">Documentation</a>}>
      <Show query={useQuery(readyQuery)}>
        {({ status, checks }) => {
          const [tone, word] = STATES[status]
          return (
            <Facts>
              <Fact name="Kiln">
                <Badge tone={tone}>{word}</Badge> {service?.version}
              </Fact>
              <Fact name="Database">{stateOf(checks.postgres)}</Fact>
              <Fact name="Workflows">{stateOf(checks.temporal)}</Fact>
              <Fact name="Files">{stateOf(checks.storage)}</Fact>
            </Facts>
          )
        }}
      </Show>
    </Panel>
  )
}

const stateOf = (check: 'ok' | 'down') => (
  <Badge tone={check === 'ok' ? 'ok' : 'bad'}>{check === 'ok' ? 'works' : 'away'}</Badge>
)
