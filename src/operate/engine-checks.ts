import type { Config } from '../compose/settings/env.ts'
import { makeCogHost } from '../engines/cog/cog-host.ts'
import { TEMPLATE_KINDS } from '../engines/domain/template/fields.ts'
import type { NamedInstance } from '../engines/domain/fleet-item.ts'
import { readEngines, readUpstreams } from '../engines/settings.ts'
import { makeUpstream } from '../engines/upstream/upstream.ts'
import { OperatorError } from '../platform/process/operator-error.ts'
import { readOutboundRules } from '../platform/settings/settings.ts'
import { makeEngineOf } from '../tasks/settings.ts'
import type { Sql } from '../platform/db/client.ts'
import { listEngineProblems } from '../compose/engine-problems.ts'
import type { CheckDeps } from './checks.ts'
import type { Check } from './doctor.ts'

const ADVICE = 'start it, or correct its address in ENGINES_HTTP'
/** The doctor gives more to each check. */
const SILENCE_MS = 3000

/** Makes a check of all engines, and one for each engine of ENGINES_HTTP and each upstream. */
export const makeEngineChecks = ({ config, sql }: Pick<CheckDeps, 'config' | 'sql'>): Check[] => [
  ...listHttpChecks(config),
  ...(['image', 'video'] as const).flatMap((family) =>
    readUpstreams(config, family).map((upstream): Check => [
      ['upstream', upstream.kind ?? family].join(' '),
      [upstream.setting],
      `start it, or correct ${upstream.setting}`,
      () => checkUpstream(config, upstream),
    ]),
  ),
  ['engines', ['postgres'], 'start PostgreSQL', () => checkProblems(sql())],
]

/** Checks what workers see of engines: one that responds to the doctor may fail each task. */
const checkProblems = async (sql: Sql): Promise<string> => {
  const problems = await listEngineProblems(sql)
  const lines = problems.map(({ message, since }) =>
    since === undefined ? message : `${message} (since ${since})`,
  )
  if (lines.length > 0) throw new OperatorError(lines.join('; '))
  return 'none fails, as workers see it'
}

/** Any response is one: routes differ, and only a task shows whether the key is right. */
const checkUpstream = async (
  config: Config,
  given: ReturnType<typeof readUpstreams>[number],
): Promise<string> => {
  const limits = { perSecond: 1, atOnce: 1 }
  const outbound = readOutboundRules(config)
  const upstream = makeUpstream({ ...given, limits, outbound })
  try {
    const asked = upstream.ask({ path: '/', signal: AbortSignal.timeout(SILENCE_MS) })
    const response = await asked.catch(() => ({ reason: `no response in ${SILENCE_MS / 1000} s` }))
    if ('status' in response) return `${upstream.name} responds, with status ${response.status}`
    throw new OperatorError(
      `${upstream.name}: ${response.reason}: start it, or correct ${given.setting}`,
    )
  } finally {
    upstream.close()
  }
}

const listHttpChecks = (config: Config): Check[] =>
  readEngines({ ...config, WORKER_ROLE: 'core' }).map(({ name, instances, token }): Check => [
    `engine ${name}`,
    ['ENGINES_HTTP', 'ENGINES_HTTP_TOKENS', 'ENGINES'],
    ADVICE,
    () => checkEngine(config, { name, instances, token }),
  ])

const checkEngine = async (
  config: Config,
  { name, instances, token }: { name: string; instances: readonly NamedInstance[]; token: string },
): Promise<string> => {
  const asked = await Promise.all(instances.map((at) => askInstance(config, at, token)))
  const issues = asked.flatMap(({ issues }) => issues)
  const able = asked.find(({ fields }) => fields !== undefined)
  if (!able?.fields) throw new OperatorError(`${issues.join('; ')}: ${ADVICE}`)
  const engineOf = makeEngineOf(config)
  const kinds = TEMPLATE_KINDS.filter((kind) => engineOf(kind) === name)
  const found = [
    `takes ${able.fields.join(', ') || 'nothing'}`,
    `${asked.filter(({ fields }) => fields).length} of ${instances.length} respond`,
    ...(kinds.length > 0 ? [`renders ${kinds.join(', ')}`] : []),
  ]
  return [...found, ...issues].join('; ')
}

/** Asks an instance what it takes. */
const askInstance = async (
  config: Config,
  at: NamedInstance,
  token: string,
): Promise<{ issues: string[]; fields?: string[] }> => {
  const host = makeCogHost({
    ...at,
    depth: 0,
    token,
    outbound: readOutboundRules(config),
    lostMs: 0,
    silenceMs: SILENCE_MS,
  })
  try {
    await host.readStatus()
    const { schema, issues } = await host.readSchema()
    return schema
      ? { issues: [], fields: Object.keys(schema.members) }
      : { issues: [`${at.name}: ${issues.join(', ')}`] }
  } catch (error) {
    return { issues: [`${at.name}: ${error instanceof Error ? error.message : String(error)}`] }
  } finally {
    host.close()
  }
}
