import { makeInstance } from '../adapters/comfyui/instance.ts'
import type { Instance } from '../adapters/comfyui/instance.ts'
import { readTemplates } from '../adapters/comfyui/templates.ts'
import type { Sql } from '../db/client.ts'
import { drainInstance, listInstanceDetails } from '../db/task/fleet.ts'
import type { Template } from '../domain/template/template.ts'
import { OperatorError } from '../process/operator-error.ts'
import { readInstances } from '../process/settings/derived.ts'
import type { Config } from '../process/settings/env.ts'
import { renderSample } from './sample.ts'
import { describeCauses } from './server-error.ts'

/** Makes the commands for a fleet of ComfyUI. */
export const makeFleetCommands = (config: Config, sql: Sql, write: (line: string) => void) => ({
  templates: (folder: SampleFolder): Promise<string> => checkTemplates(config, folder, write),
  instances: async (): Promise<string> => {
    const instances = await listInstanceDetails(sql)
    if (instances.length === 0) return 'no worker has called an instance yet'
    return instances
      .map(({ name, state, tasks, template, last_error: error }) =>
        [name, state, `${tasks.length} tasks`, template, error].filter(Boolean).join('  '),
      )
      .join('\n')
  },
  instance: async (given: { name: string; isDrained: boolean }): Promise<string> => {
    if (await drainInstance(sql, given))
      return `${given.name} is given ${given.isDrained ? 'no more tasks; those there go on' : 'tasks again'}`
    throw new OperatorError(
      `there is no instance ${given.name}: \`kiln operate instances\` lists them`,
    )
  },
})

/** Folder for samples; undefined: none are rendered. */
export type SampleFolder = string | undefined

/** @throws OperatorError that lists every issue of the files themselves, or the samples that were not rendered */
const checkTemplates = async (
  config: Config,
  folder: SampleFolder,
  write: (line: string) => void,
): Promise<string> => {
  if (config.COMFYUI_TEMPLATES === '') throw new OperatorError('COMFYUI_TEMPLATES is absent')
  const { templates, issues } = await readTemplates(config.COMFYUI_TEMPLATES)
  if (issues.length > 0) throw new OperatorError(issues.join('\n'))
  const instances = readInstances({ ...config, WORKER_ROLE: 'core' }).map(openInstance)
  const failed: string[] = []
  for (const template of templates) {
    const able: Instance[] = []
    for (const instance of instances) {
      const found = await instance
        .readClasses(template)
        .catch((error: Error) => ({ issues: [error.message] }))
      if (found.issues.length === 0) able.push(instance)
      const verdict = found.issues.length === 0 ? 'can be run' : found.issues.join('; ')
      write(`${instance.name}  ${template.name}  ${verdict}`)
    }
    if (folder === undefined) continue
    const sample = await trySample(config, { template, instance: able[0], folder })
    write(`${template.name}  ${sample.line}`)
    if (!sample.isMade) failed.push(template.name)
  }
  for (const { client } of instances) client.close()
  if (failed.length > 0)
    throw new OperatorError(`no sample of ${failed.join(', ')}: the lines above say why`)
  return `${templates.length} templates are valid`
}

interface Tried {
  template: Template
  instance: Instance | undefined
  folder: string
}

const trySample = async (config: Config, { template, instance, folder }: Tried) => {
  if (!instance) return { isMade: false, line: 'no instance can run it' }
  try {
    const path = await renderSample({ template, instance, folder }, config)
    return { isMade: true, line: `rendered on ${instance.name}: ${path}` }
  } catch (error) {
    return { isMade: false, line: `failed on ${instance.name}: ${describeCauses(error)}` }
  }
}

/** The doctor gives five seconds to each check. */
const SILENCE_MS = 3000

export const openInstance = (options: ReturnType<typeof readInstances>[number]): Instance =>
  makeInstance({
    ...options,
    outbound: { ports: [], deny: [], allowLoopback: false },
    lostMs: 0,
    silenceMs: SILENCE_MS,
  })
