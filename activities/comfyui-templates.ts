import { createHash } from 'node:crypto'

import { readTemplates } from '../src/adapters/comfyui/templates.ts'
import { RULES } from '../src/db/shared/change-notification.ts'
import { publishTemplate, removeTemplates } from '../src/db/task/template.ts'
import { CUSTOM, customName } from '../src/domain/task/custom-kind.ts'
import { describeMembers } from '../src/domain/template/custom-kind.ts'
import type { Template } from '../src/domain/template/template.ts'
import type { ComfyDependencies } from './dependencies.ts'

type KeeperDependencies = Pick<ComfyDependencies, 'sql' | 'log' | 'notifyChange' | 'fleet'>

/**
 * Makes the pass that follows the folder of templates: what changes there takes effect without a restart. A worker writes
 * a template when its own folder has changed, or what instances say of it, so that workers whose folders are renewed one
 * after another do not undo each other's.
 */
export const makeKeepTemplates = (deps: KeeperDependencies, folder: string) => {
  const { sql, log, notifyChange, fleet } = deps
  /** Templates that were written last, and issues that were logged; no template has a name with a space. */
  const known = new Map<string, string>()
  const remember = (name: string, text: string): boolean => {
    const isNew = known.get(name) !== text
    known.set(name, text)
    return isNew
  }
  const publish = async (content: Template): Promise<void> => {
    const name = customName(content.name) ?? ''
    const digest = createHash('sha256').update(JSON.stringify(content)).digest('hex')
    const { members, issues } = await describe(deps, content)
    if (remember(`issues of ${name}`, issues.join()) && issues.length > 0)
      log.error({ template: content.name, issues }, 'a template is no kind as it is')
    const text = JSON.stringify(members)
    if (!members || known.get(name) === digest + text) return
    const isNew = known.get(name)?.startsWith(digest) !== true
    await publishTemplate(sql, { name, digest, content, members, isNew })
    known.set(name, digest + text)
    notifyChange?.(RULES)
    if (isNew)
      log.info({ template: content.name }, 'a template is a kind: apis have it within 10 seconds')
  }
  let own = new Map(fleet.templates.map((template) => [template.name, JSON.stringify(template)]))
  /** Logs which workflows of the service's own kinds are others than before. */
  const reportChanges = (templates: readonly Template[]): void => {
    const now = new Map(templates.map((template) => [template.name, JSON.stringify(template)]))
    for (const template of new Set([...own.keys(), ...now.keys()]))
      if (own.get(template) !== now.get(template))
        log.info({ template }, now.has(template) ? 'a template was changed' : 'a template is gone')
    own = now
  }
  return async (): Promise<void> => {
    const { templates, issues } = await readTemplates(folder)
    if (remember('all issues', issues.join()) && issues.length > 0)
      log.error({ issues }, 'templates cannot be used: those read before stay')
    if (issues.length > 0) return
    fleet.templates = templates.filter(({ kind }) => kind !== undefined)
    reportChanges(fleet.templates)
    const custom = templates.filter(({ kind }) => kind === undefined)
    fleet.custom = custom
    const names = custom.map(({ name }) => customName(name) ?? '')
    const removed = known.get('all names') === names.join() ? [] : await removeTemplates(sql, names)
    known.set('all names', names.join())
    if (removed.length > 0) notifyChange?.(RULES)
    for (const name of removed) {
      known.delete(name)
      log.info({ template: CUSTOM + name }, 'a template was removed; its tasks go on')
    }
    for (const template of custom) await publish(template)
  }
}

/** Describes a template by the instances that can run it; where none responds, there are neither members nor issues. */
const describe = async ({ fleet }: KeeperDependencies, template: Template) => {
  const read = await Promise.all(
    fleet.instances
      .filter((instance) => instance.state() === 'up')
      .map((instance) => instance.readClasses(template).catch(() => undefined)),
  )
  const found = read.filter((one) => one !== undefined)
  const able = found.filter(({ issues }) => issues.length === 0)
  if (able.length === 0) return { issues: found.flatMap(({ issues }) => issues) }
  const { members, issues } = describeMembers(
    template,
    able.map(({ classes }) => classes),
  )
  return issues.length > 0 ? { issues } : { members, issues }
}
