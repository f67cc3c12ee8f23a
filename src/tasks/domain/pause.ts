import { Type, type Static } from 'typebox'

import { count, instant, reason } from '../../platform/domain/schema-fields.ts'
import { shown } from '../../platform/domain/errors.ts'
import { makeIssue, type Issue } from '../../platform/domain/validate.ts'
import { CUSTOM_NAME } from './custom-kind.ts'
import { ENGINE_NAMES } from './engine.ts'
import { warnings } from './owner-limit.ts'
import { KIND_PATTERN } from './task-item.ts'

const HOST = String.raw`[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\]`

const PATTERN = `^(all|engine:${CUSTOM_NAME}(:(image|video))?|kind:${KIND_PATTERN}|owner:[^\\u0000]{1,255}|host:(${HOST})(:[0-9]{1,5})?)$`

const EXPECTATION = `all, engine:<${ENGINE_NAMES.join(', ')}, or a name of ENGINES_HTTP>, kind:<a kind>, owner:<an id> or host:<host of a webhook URL, in lower case>`

/** The form of what may be paused. */
export const PauseScope = Type.String({
  maxLength: 300,
  pattern: PATTERN,
  description:
    '`all`, `engine:` and its name (also with `:image` or `:video`), `kind:` and a kind, `owner:` and an id, or `host:` and the host of webhook URLs, with its port where the URLs name one.',
  'x-expectation': EXPECTATION,
})

export const validateScope = (scope: unknown): Issue[] => {
  const isKnown = typeof scope === 'string' && new RegExp(PATTERN, 'u').test(scope)
  return isKnown ? [] : [makeIssue('/scope', `must be ${EXPECTATION}, got ${shown(String(scope))}`)]
}

/** Body of PUT /admin/pauses/{scope}. */
export const NewPause = Type.Object({
  reason: Type.Optional(reason('Why. Callers read it, except that of an owner or a host.')),
  until: Type.Optional(instant('When it ends by itself; absent: somebody resumes it.')),
})
export type NewPause = Static<typeof NewPause>

export const Pause = Type.Object({
  scope: Type.String(),
  reason: NewPause.properties.reason,
  paused_by: Type.Optional(Type.String({ description: 'Id of the admin; absent of a breaker.' })),
  paused_at: instant('Since when.'),
  until: NewPause.properties.until,
  breaker: Type.Optional(
    Type.Enum(['open', 'half_open'], {
      description:
        'The engine fails, so it is paused by itself. `half_open`: one task tries whether it works again.',
    }),
  ),
  warnings,
})
export type Pause = Static<typeof Pause>

/** Response of GET /admin/pauses/{scope}. */
export const PauseEffect = Type.Object({
  tasks: count('Tasks that have not begun to be rendered; of a host none.'),
  events: count('Events and redeliveries that wait for a host; of any other scope none.'),
  owners: count('Owners of these.'),
})
export type PauseEffect = Static<typeof PauseEffect>

export const PauseList = Type.Object({
  pauses: Type.Array(Pause, { description: 'The oldest first.' }),
})

/** Part of a pause that callers may know: nothing of an owner, a host or the engines behind the service. */
export const PublicPause = Type.Object({
  what: Type.Enum(['all', 'kind', 'some'], {
    description:
      'All tasks, those of a kind, or some: nothing of them begins, and nothing is lost.',
  }),
  kind: Type.Optional(Type.String({ description: 'That kind.' })),
  reason: Type.Optional(Type.String({ description: 'Why, where that was said.' })),
  since: instant('Since when.'),
  until: Type.Optional(instant('When it ends by itself.')),
})
export type PublicPause = Static<typeof PublicPause>

/** Milliseconds until the first of these pauses ends by itself, and a little more because clocks differ; at most `maxMs`. */
export const untilNextEnd = (pauses: readonly Pause[], maxMs: number): number => {
  const ends = pauses.flatMap(({ until }) => (until === undefined ? [] : [Date.parse(until)]))
  return Math.min(maxMs, Math.max(0, Math.min(...ends) - Date.now()) + 100)
}

/** Makes what callers may read of pauses. */
export const toPublicPauses = (pauses: readonly Pause[]): PublicPause[] =>
  pauses
    .filter(({ scope }) => !/^(owner|host):/.test(scope))
    .map(({ scope, reason: why, paused_at: since, until }) => ({
      what: scope === 'all' ? 'all' : scope.startsWith('kind:') ? 'kind' : 'some',
      ...(scope.startsWith('kind:') && { kind: scope.slice('kind:'.length) }),
      ...(why !== undefined && { reason: why }),
      since,
      ...(until !== undefined && { until }),
    }))
