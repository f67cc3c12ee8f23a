import { randomUUID } from 'node:crypto'

import type { Instance } from '../../src/engines/comfyui/instance.ts'
import { leaseReading, recordAbilities } from '../../src/engines/db/fleet.ts'
import {
  findMarker,
  finishPlacement,
  leaseLeftPlacements,
  recordState,
  replaceMarker,
} from '../../src/engines/db/placement.ts'
import type { LeftPlacement } from '../../src/engines/db/placement.ts'
import type { Ability } from '../../src/tasks/domain/fleet.ts'
import { listModels } from '../../src/engines/domain/template/models.ts'
import { failpoint } from '../../src/platform/process/failpoint.ts'
import type { ComfyDependencies, Fleet } from './dependencies.ts'

type KeeperDependencies = Pick<ComfyDependencies, 'sql' | 'log'>

/** Placements of one instance that are removed in one turn: a few requests each. */
const MAX_LEFT = 20

/** One turn of looking after all instances. One that does not respond keeps none of the others waiting for long. */
export const keepFleet = async (
  deps: KeeperDependencies & Pick<ComfyDependencies, 'fleet'>,
): Promise<void> => {
  await Promise.all(
    deps.fleet.instances.map((instance) =>
      keepInstance(deps, instance, deps.fleet).catch((error: unknown) =>
        deps.log.warn({ instance: instance.name, err: error }, 'an instance was not looked after'),
      ),
    ),
  )
}

/**
 * One turn of looking after an instance: its state, what it can run, whether it has restarted, and what tasks have left
 * there.
 */
const keepInstance = async (
  deps: KeeperDependencies,
  instance: Instance,
  fleet: Fleet,
): Promise<void> => {
  await instance.probe(performance.now() - 1000)
  const state = instance.state()
  logState(deps, instance)
  const isStalled = state === 'up' && instance.stalledMs() >= fleet.stallMs
  const isLeaving = instance.depth === 0
  const seen = isStalled ? 'stalled' : isLeaving && state === 'up' ? 'leaving' : state
  await recordState(deps.sql, { name: instance.name, state: seen })
  // What lies on an instance that is gone for good is gone, too, and its name is free.
  const isGone = state === 'down' && isLeaving
  if (state !== 'up' && !isGone) return
  if (!isGone) await checkMarker(deps, instance)
  const left = await leaseLeftPlacements(deps.sql, { instance: instance.name, max: MAX_LEFT })
  for (const placement of left)
    await (isGone ? finishPlacement(deps.sql, placement.id) : cleanUp(deps, instance, placement))
  if (!isGone && (await leaseReading(deps.sql, instance.name)))
    await readAbilities(deps, instance, fleet)
}

/** Instances that were reported as silent. */
const silent = new WeakSet<Instance>()

/** Says once that an instance is silent, and that it responds again. */
const logState = ({ log }: KeeperDependencies, instance: Instance): void => {
  const state = instance.state()
  const facts = { instance: instance.name }
  if (state === 'down' && !silent.has(instance)) {
    silent.add(instance)
    log.error(facts, 'an instance of ComfyUI does not respond: start it, or correct COMFYUI_URLS')
  } else if (state === 'up' && silent.delete(instance))
    log.info(facts, 'an instance of ComfyUI responds again')
}

/** Reads for operators what an instance can run; a file that cannot be used is a template that it cannot. */
const readAbilities = async (
  { sql }: KeeperDependencies,
  instance: Instance,
  { templates, custom, unusable }: Fleet,
): Promise<void> => {
  const abilities: Record<string, Ability> = {}
  for (const [file, issues] of Object.entries(unusable))
    abilities[file] = { models: [], issues: [...issues] }
  for (const template of [...templates, ...custom]) {
    const { issues } = await instance.readClasses(template)
    // What is missing there is in the line of the template.
    if (issues.length > 0) delete abilities[`${template.name}.json`]
    const files = listModels(template)
    abilities[template.name] = { models: files.map(({ file }) => file), model_files: files, issues }
  }
  const { version } = instance.facts()
  await recordAbilities(sql, { name: instance.name, version, abilities })
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
  { sql, log }: KeeperDependencies,
  instance: Instance,
  { id, inputs }: LeftPlacement,
): Promise<void> => {
  failpoint('comfyui.before-clean-up')
  const { state, entry } = await instance.find(id, performance.now())
  if (state === 'running' || state === 'pending') {
    log.info(
      { instance: instance.name, placement: id },
      'a prompt that nobody waits for is cancelled',
    )
    // It may go on to the end of its node, so another turn looks again once the lease is over.
    return await instance.cancel(id)
  }
  await instance.empty(id, inputs, entry)
  await finishPlacement(sql, id)
}
