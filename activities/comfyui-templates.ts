import { createHash } from 'node:crypto'

import type { Instance } from '../src/adapters/comfyui/instance.ts'
import { readTemplates } from '../src/adapters/comfyui/templates.ts'
import { publishTemplate, removeTemplates } from '../src/db/task/template.ts'
import { customName } from '../src/domain/task/custom-kind.ts'
import { describeFields } from '../src/domain/template/custom-field.ts'
import type { NodeClasses } from '../src/domain/template/fill.ts'
import type { Template } from '../src/domain/template/template.ts'
import type { ComfyDependencies } from './dependencies.ts'

type KeeperDependencies = Pick<ComfyDependencies, 'sql' | 'log' | 'fleet'>

/**
 * Makes the pass that follows the folder of templates: what is added or changed there takes effect without a restart. A
 * worker writes a template when its own folder has changed, or what instances say of it, so that several workers whose
 * folders are renewed one after another do not undo each other's.
 */
export const makeKeepTemplates = (deps: KeeperDependencies, folder: string) => {
  const { sql, log, fleet } = deps
  /** What was written, or logged, by name. */
  const done = new Map<string, { digest: string; text: string }>()
  const isNews = (name: string, digest: string, text: string): boolean => {
    const before = done.get(name)
    done.set(name, { digest, text })
    return before?.digest !== digest || before.text !== text
  }
  const keep = async (template: Template): Promise<void> => {
    const name = customName(template.name) ?? ''
    const digest = createHash('sha256').update(JSON.stringify(template)).digest('hex')
    const { known, issues } = await readAbility(fleet.instances, template)
    const described =
      known.length > 0 ? describeFields(template, known) : { issues, fields: undefined }
    const { fields } = described
    if (described.issues.length > 0) {
      if (isNews(`issue of ${name}`, digest, described.issues.join()))
        log.error(
          { template: template.name, issues: described.issues },
          'a template is no kind yet',
        )
      return
    }
    // Nobody responds: what was written stays.
    if (!fields) return
    const isNew = done.get(name)?.digest !== digest
    if (!isNews(name, digest, JSON.stringify(fields))) return
    try {
      await publishTemplate(sql, { name, digest, content: template, fields, isNew })
    } catch (error) {
      done.delete(name)
      throw error
    }
    if (isNew) log.info({ template: template.name }, 'a template is a kind of its own')
  }
  return async (): Promise<void> => {
    const { templates, issues } = await readTemplates(folder)
    if (issues.length > 0) {
      if (isNews('folder', '', issues.join()))
        log.error({ issues }, 'templates cannot be used: those read before stay')
      return
    }
    done.delete('folder')
    fleet.templates = templates.filter(({ kind }) => kind !== undefined)
    const custom = templates.filter(({ kind }) => kind === undefined)
    const names = custom.map(({ name }) => customName(name) ?? '')
    if (isNews('names', names.join(), ''))
      for (const name of await removeTemplates(sql, names)) {
        done.delete(name)
        log.info({ template: name }, 'a template was removed; its tasks go on')
      }
    for (const template of custom) await keep(template)
  }
}

/** Reads the classes of the instances that respond and can run a template, and why others cannot. */
const readAbility = async (instances: readonly Instance[], template: Template) => {
  const known: NodeClasses[] = []
  const issues: string[] = []
  for (const instance of instances) {
    if (instance.state() !== 'up') continue
    const found = await instance.readClasses(template).catch(() => undefined)
    if (found?.issues.length === 0) known.push(found.classes)
    issues.push(...(found?.issues ?? []).map((issue) => `${instance.name}: ${issue}`))
  }
  return { known, issues }
}
