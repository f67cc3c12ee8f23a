import { makeInstance } from '../adapters/comfyui/instance.ts'
import { readTemplates } from '../adapters/comfyui/templates.ts'
import type { Sql } from '../db/client.ts'
import { drainInstance, listInstanceDetails } from '../db/task/fleet.ts'
import { OperatorError } from '../process/operator-error.ts'
import { readInstances } from '../process/settings/derived.ts'
import type { Config } from '../process/settings/env.ts'

/** Makes the commands for a fleet of ComfyUI. */
export const makeFleetCommands = (config: Config, sql: Sql) => ({
  templates: (): Promise<string> => checkTemplates(config),
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

/** @throws OperatorError that lists every issue of the files themselves */
const checkTemplates = async (config: Config): Promise<string> => {
  if (config.COMFYUI_TEMPLATES === '') throw new OperatorError('COMFYUI_TEMPLATES is absent')
  const { templates, issues } = await readTemplates(config.COMFYUI_TEMPLATES)
  if (issues.length > 0) throw new OperatorError(issues.join('\n'))
  const rules = { ports: [], deny: [], allowLoopback: false }
  const instances = readInstances({ ...config, WORKER_ROLE: 'core' }).map((instance) =>
    makeInstance({ ...instance, outbound: rules, lostMs: 0 }),
  )
  const lines: string[] = []
  for (const instance of instances)
    for (const template of templates) {
      const found = await instance
        .readClasses(template)
        .catch((error: Error) => ({ issues: [error.message] }))
      const verdict = found.issues.length === 0 ? 'can be run' : found.issues.join('; ')
      lines.push(`${instance.name}  ${template.name}  ${verdict}`)
    }
  for (const { client } of instances) client.close()
  return [`${templates.length} templates are valid`, ...lines].join('\n')
}
