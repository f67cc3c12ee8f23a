import { randomUUID } from 'node:crypto'

import type { Instance } from '../../src/engines/comfyui/instance.ts'
import { findMarker, replaceMarker } from '../../src/engines/db/placement.ts'
import type { LeftPlacement } from '../../src/engines/db/placement.ts'
import type { Abilities, Ability } from '../../src/tasks/domain/fleet.ts'
import { listModels } from '../../src/engines/domain/template/models.ts'
import { listWarnings } from '../../src/engines/domain/template/warnings.ts'
import { failpoint } from '../../src/platform/process/failpoint.ts'
import type { Fleet } from './dependencies.ts'
import { keepHosts } from './keeper.ts'
import type { KeeperDependencies } from './keeper.ts'

/** One turn of looking after all instances of ComfyUI. */
export const keepFleet = (deps: KeeperDependencies & { fleet: Fleet }): Promise<void> =>
  keepHosts(deps, {
    checkRestart: (instance) => checkMarker(deps, instance),
    cleanUp: (instance, left) => cleanUp(deps, instance, left),
    canRun: async (instance, name) => {
      const { templates, custom } = deps.fleet
      const template = [...templates, ...custom].find((one) => one.name === name)
      return !template || (await instance.readClasses(template)).issues.length === 0
    },
    listAbilities: (instance) => listAbilities(instance, deps.fleet),
    listModels: (instance) => instance.listModels(),
    setting: 'COMFYUI_URLS',
    engine: 'comfyui',
  })

/** Lists what an instance can run; a file that cannot be used is a template that it cannot. */
const listAbilities = async (
  instance: Instance,
  { templates, custom, unusable }: Fleet,
): Promise<Abilities> => {
  const abilities: Record<string, Ability> = {}
  for (const [file, issues] of Object.entries(unusable))
    abilities[file] = { models: [], issues: [...issues] }
  for (const template of [...templates, ...custom]) {
    const { issues } = await instance.readClasses(template)
    // What is missing there is in the line of the template.
    if (issues.length > 0) delete abilities[`${template.name}.json`]
    const files = listModels(template)
    abilities[template.name] = {
      models: files.map(({ file }) => file),
      version: template.version,
      warnings: listWarnings(template),
      model_files: files,
      issues,
    }
  }
  return abilities
}

/**
 * Finds out whether an instance has restarted, which it does not report: a restart empties the folder in which its
 * marker is. Leaves a new one then, and the first one.
 */
export const checkMarker = async (
  { sql, log }: KeeperDependencies,
  { name, client }: Instance,
): Promise<boolean> => {
  const old = await findMarker(sql, name)
  if (old !== null && (await client.has(fileOf(old)))) return false
  const marker = randomUUID()
  const { status } = await client.upload({ ...fileOf(marker), path: null })
  if (status === 200) await replaceMarker(sql, { name, old, marker })
  if (old !== null) log.warn({ instance: name }, 'an instance of ComfyUI has restarted')
  return old !== null
}

const fileOf = (marker: string) => ({
  filename: `kiln-boot-${marker}.png`,
  subfolder: '',
  type: 'temp',
})

/** Ends a prompt that nobody waits for, and empties the files of its task. */
const cleanUp = async (
  { log }: KeeperDependencies,
  instance: Instance,
  { id, inputs }: LeftPlacement,
): Promise<boolean> => {
  failpoint('comfyui.before-clean-up')
  const { state, entry } = await instance.find(id, performance.now())
  if (state === 'running' || state === 'pending') {
    log.info(
      { instance: instance.name, placement: id },
      'a prompt that nobody waits for is cancelled',
    )
    // It may go on to the end of its node, so another turn looks again once the lease is over.
    await instance.cancel(id)
    return false
  }
  await instance.empty(id, inputs, entry)
  return true
}
