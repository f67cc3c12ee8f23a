import type { CogHost, ReadSchema } from '../../src/engines/cog/cog-host.ts'
import { publishTemplate, recordVersions, removeTemplates } from '../../src/engines/db/template.ts'
import { RULES } from '../../src/platform/db/change-notification.ts'
import { CUSTOM } from '../../src/tasks/domain/custom-kind.ts'
import type { EngineDependencies, EngineHosts } from './dependencies.ts'
import { keepHosts, type KeeperDependencies } from './keeper.ts'

/** One turn of looking after the instances of an engine. */
export const keepEngine = (deps: KeeperDependencies & { fleet: EngineHosts }): Promise<void> =>
  keepHosts(deps, {
    // One that does not run is not known there: nothing of it is left.
    cleanUp: (instance, { id }) => instance.cancel(id),
    listAbilities: async (instance) => {
      const { issues } = await instance.readSchema()
      return { [CUSTOM + deps.fleet.name]: { models: [], issues: [...issues] } }
    },
    setting: 'ENGINES_HTTP',
    engine: deps.fleet.name,
  })

type Deps = Pick<EngineDependencies, 'sql' | 'log' | 'notifyChange'>

/**
 * Makes the pass that makes engines kinds: what their instances take becomes the fields of one. While instances differ, as
 * in a release, the kind stays what it is until they agree.
 */
export const makeKeepKinds = (deps: Deps, engines: readonly EngineHosts[]) => {
  const { sql, log, notifyChange } = deps
  const logged = new Map<string, string>()
  const names = engines.map(({ name }) => name)
  let isFirst = true
  return async (): Promise<void> => {
    const removed = isFirst ? await removeTemplates(sql, names, 'engines') : []
    isFirst = false
    for (const name of removed) log.info({ engine: name }, 'an engine is no kind any more')
    if (removed.length > 0) notifyChange(RULES)
    for (const fleet of engines) {
      const read = await Promise.all(fleet.instances.map(readUp))
      const issues = read.flatMap((one) => one?.issues ?? [])
      if (issues.length > 0 && logged.get(fleet.name) !== issues.join())
        log.error(
          { engine: fleet.name, issues },
          `engine ${fleet.name} cannot be used: its kind is as it was, or is none yet`,
        )
      logged.set(fleet.name, issues.join())
      const able = read.flatMap((one) => (one?.schema ? [one] : []))
      const found = able.find(({ digest }) => digest === fleet.version) ?? able[0]
      if (found && found.digest !== fleet.version) await publish(deps, fleet, found)
    }
  }
}

const readUp = async (instance: CogHost): Promise<ReadSchema | undefined> => {
  await instance.probe(performance.now() - 1000)
  return instance.state() === 'up' ? await instance.readSchema().catch(() => undefined) : undefined
}

const publish = async (
  { sql, log, notifyChange }: Deps,
  fleet: EngineHosts,
  { schema: { members }, digest }: Extract<ReadSchema, { digest: string }>,
): Promise<void> => {
  const { name } = fleet
  const content = { name: CUSTOM + name, engine: name }
  await recordVersions(sql, [{ name: content.name, version: digest }])
  await publishTemplate(sql, { name, digest, content, members, isNew: true })
  fleet.version = digest
  notifyChange(RULES)
  log.info({ engine: name }, 'an engine is a kind: apis have it within 10 seconds')
}
