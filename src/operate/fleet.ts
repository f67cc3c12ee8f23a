import { makeInstance } from '../engines/comfyui/instance.ts'
import type { Instance } from '../engines/comfyui/instance.ts'
import { makeReadInstances } from '../engines/comfyui/sources.ts'
import { readTemplates } from '../engines/comfyui/templates.ts'
import type { FleetItem, NamedInstance } from '../engines/domain/fleet-item.ts'
import type { Sql } from '../platform/db/client.ts'
import { changesOf, insertAudit, type Audit } from '../platform/db/audit-log.ts'
import { drainInstance, listInstanceDetails } from '../engines/db/fleet.ts'
import { describeMembers } from '../engines/domain/template/custom-kind.ts'
import { listAdvice } from '../engines/domain/template/fill.ts'
import { listGaps } from '../engines/domain/template/gaps.ts'
import { listWarnings } from '../engines/domain/template/warnings.ts'
import { customName, customPath } from '../tasks/domain/custom-kind.ts'
import { describeNode } from '../engines/domain/template/graph.ts'
import { adviseModel, listModels } from '../engines/domain/template/models.ts'
import type { NodeClasses } from '../engines/domain/template/node-class.ts'
import { listKinds } from '../engines/db/template.ts'
import { unitOfWork } from '../platform/db/unit-of-work.ts'
import { auditTarget } from '../platform/domain/audit-log.ts'
import { OperatorError } from '../platform/process/operator-error.ts'
import { folderIssue } from '../platform/settings/folder.ts'
import { readOutboundRules } from '../platform/settings/settings.ts'
import { readEngines, readFleetItems } from '../engines/settings.ts'
import { listComfyKinds } from '../engines/comfyui/kinds.ts'
import type { Config } from '../compose/settings/env.ts'
import { renderSample } from './sample.ts'
import { describeCauses } from '../platform/domain/causes.ts'
import { counted } from '../platform/domain/counted.ts'

interface FleetCommandDeps {
  config: Config
  sql: Sql
  audit: Audit
  /** PATH. */
  searchPath: string
  /** Prints a line of a command that goes on. */
  write(line: string): void
}

export const makeFleetCommands = (deps: FleetCommandDeps) => ({
  templates: (folder?: string): Promise<string> => checkTemplates(deps, folder),
  instances: async (): Promise<string> => {
    const instances = await listInstanceDetails(deps.sql)
    if (instances.length === 0) return 'no worker has called an instance yet'
    return instances
      .map(({ name, state, tasks, template, last_error: error }) =>
        [name, state, counted(tasks.length, 'task'), template, error].filter(Boolean).join('  '),
      )
      .join('\n')
  },
  instance: async (given: { name: string; isDrained: boolean }): Promise<string> => {
    const { name, isDrained } = given
    return await unitOfWork(deps, async (sql) => {
      const status = await drainInstance(sql, given)
      if (!status)
        throw new OperatorError(
          `there is no instance ${name}: \`kiln operate instances\` lists them`,
        )
      await insertAudit(sql, deps.audit, {
        action: isDrained ? 'instance.drain' : 'instance.resume',
        target: auditTarget.instance(name),
        ...changesOf({ status }, { status: isDrained ? 'draining' : 'serving' }, { status }),
      })
      return `${name} is given ${isDrained ? 'no more tasks; those there go on' : 'tasks again'}`
    })
  },
})

/** @throws OperatorError that names the files that cannot be used, or templates that no instance can run or render */
const checkTemplates = async (
  { config, sql, searchPath, write }: FleetCommandDeps,
  folder: string | undefined,
): Promise<string> => {
  const path = config.COMFYUI_TEMPLATES
  if (path === '') throw new OperatorError('COMFYUI_TEMPLATES is absent')
  const issue = folderIssue('COMFYUI_TEMPLATES', path)
  if (issue !== undefined) throw new OperatorError(issue)
  const { templates, unusable } = await readTemplates(path, {
    listKinds: () => listKinds(sql),
    engines: listEngineNames(config),
  })
  for (const issue of Object.values(unusable).flat()) write(issue)
  const { instances: found, issues } = await makeReadInstances(listFleetItems(config))()
  for (const [name, issue] of Object.entries(issues)) write(`${name}  ${issue}`)
  for (const gap of listGaps(templates, listComfyKinds(config))) write(`warning  ${gap}`)
  const instances = found.map((at) => openInstance(config, at))
  const failed: string[] = []
  const nowhere: string[] = []
  const noKind: string[] = []
  for (const template of templates) {
    const report = (name: string, line: string) => write(`${name}  ${template.name}  ${line}`)
    const able: Instance[] = []
    const known: NodeClasses[] = []
    const { graph, results } = template
    const members = new Set(template.marks.map(({ name }) => name))
    report('members', [...members].join(', ') || 'none')
    for (const warning of listWarnings(template)) report('warning', warning)
    for (const model of listModels(template)) report('needs', model.file + adviseModel(model))
    for (const { node: id } of results) {
      const node = graph[id]
      if (node) report('result', `${describeNode(id, node)} ${node.class_type}`)
    }
    for (const instance of instances) {
      const { classes, issues } = await instance
        .explainClasses(template)
        .catch((error: Error) => ({ classes: {}, issues: [error.message] }))
      if (issues.length === 0) {
        able.push(instance)
        known.push(classes)
      }
      const lack = issues.length > 0 ? issues : ['can be run']
      report(instance.name, [...lack, ...listAdvice(template, classes)].join('; '))
    }
    if (template.kind === undefined && known.length > 0) {
      const { issues } = describeMembers(template, known)
      if (issues.length > 0) noKind.push(template.name)
      const route = customPath(customName(template.name) ?? '')
      report('kind', issues.length > 0 ? `none: ${issues.join('; ')}` : `POST ${route}`)
    }
    const [instance] = able
    if (!instance) nowhere.push(template.name)
    if (folder === undefined) continue
    const made =
      instance &&
      (await renderSample({ config, searchPath, template, instance, folder }).catch(
        (error: unknown) => {
          report(instance.name, `failed: ${describeCauses(error)}`)
        },
      ))
    if (made) report(instance.name, `rendered ${made.join(', ')}`)
    else failed.push(template.name)
  }
  for (const instance of instances) instance.close()
  if (failed.length > 0)
    throw new OperatorError(`no sample of ${failed.join(', ')}: the lines above say why`)
  if (nowhere.length > 0)
    throw new OperatorError(`no instance can run ${nowhere.join(', ')}: the lines above say why`)
  if (noKind.length > 0)
    throw new OperatorError(`${noKind.join(', ')} can be no kind: the lines above say why`)
  const files = Object.keys(unusable)
  if (files.length > 0)
    throw new OperatorError(`${files.join(', ')} cannot be used: the lines above say why`)
  return counted(templates.length, 'template is valid', 'templates are valid')
}

/** The doctor gives more to each check. */
const SILENCE_MS = 3000

export const openInstance = (config: Config, { name, url }: NamedInstance): Instance =>
  makeInstance({
    name,
    url,
    depth: 0,
    token: config.COMFYUI_TOKEN,
    outbound: readOutboundRules(config),
    lostMs: 0,
    silenceMs: SILENCE_MS,
  })

/** Names of the engines of ENGINES_HTTP, which no template can have. */
export const listEngineNames = (config: Config): string[] =>
  readEngines({ ...config, WORKER_ROLE: 'core' }).map(({ name }) => name)

/** Items of COMFYUI_URLS, whatever the role of this process. */
export const listFleetItems = (config: Config): FleetItem[] =>
  readFleetItems({ ...config, WORKER_ROLE: 'core' })
