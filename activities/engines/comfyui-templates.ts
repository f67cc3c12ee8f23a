import { createHash } from 'node:crypto'

import { readTemplates } from '../../src/engines/comfyui/templates.ts'
import type { UnusableFiles } from '../../src/engines/comfyui/templates.ts'
import { ADMISSION, RULES } from '../../src/platform/db/change-notification.ts'
import { keepSeries } from '../../src/platform/process/metrics.ts'
import { releaseTemplates } from '../../src/tasks/db/release.ts'
import {
  listKinds,
  listRoom,
  publishTemplate,
  recordVersions,
  removeTemplates,
} from '../../src/engines/db/template.ts'
import { CUSTOM, customName } from '../../src/tasks/domain/custom-kind.ts'
import { describeMembers } from '../../src/engines/domain/template/custom-kind.ts'
import type { Template } from '../../src/engines/domain/template/template.ts'
import { listWarnings } from '../../src/engines/domain/template/warnings.ts'
import type { ComfyDependencies } from './dependencies.ts'

type KeeperDependencies = Pick<
  ComfyDependencies,
  'sql' | 'log' | 'notifyChange' | 'fleet' | 'metrics'
>

/**
 * Makes the pass that follows the folder of templates: what changes there takes effect without a restart. A worker writes
 * a template when its own folder has changed, or what instances say of it, so that workers whose folders are renewed one
 * after another do not undo each other's.
 * @param engines names of engines, which no template can have
 */
export const makeKeepTemplates = (
  deps: KeeperDependencies,
  folder: string,
  engines: readonly string[] = [],
) => {
  const { sql, log, notifyChange, fleet, metrics } = deps
  /** Templates that were written last; no template has a name with a space. */
  const known = new Map<string, string>()
  /** Writes a template. Returns why it is no kind. */
  const publish = async (content: Template) => {
    const name = customName(content.name) ?? ''
    const digest = createHash('sha256').update(JSON.stringify(content)).digest('hex')
    const { members, issues } = await describe(deps, content)
    const text = JSON.stringify(members)
    if (!members || known.get(name) === digest + text) return issues
    const isNew = known.get(name)?.startsWith(digest) !== true
    await publishTemplate(sql, { name, digest, content, members, isNew })
    known.set(name, digest + text)
    notifyChange?.(RULES)
    if (isNew)
      log.info({ template: content.name }, 'a template is a kind: apis have it within 10 seconds')
    return issues
  }
  let own = new Map(fleet.templates.map((template) => [template.name, JSON.stringify(template)]))
  /** Logs which workflows of the service's own kinds are others than before. */
  const reportChanges = (templates: readonly Template[]): void => {
    const now = new Map(templates.map((template) => [template.name, JSON.stringify(template)]))
    for (const template of new Set([...own.keys(), ...now.keys()]))
      if (own.get(template) !== now.get(template))
        log.info(
          { template },
          `a template is ${now.has(template) ? 'new, or was changed' : 'gone'}`,
        )
    own = now
  }
  let logged: UnusableFiles = {}
  /** Logs each file once. */
  const reportUnusable = async (unusable: UnusableFiles): Promise<void> => {
    const found = Object.entries(unusable).filter(
      ([file, issues]) => logged[file]?.join() !== issues.join(),
    )
    const kinds = found.length > 0 ? await listKinds(sql) : []
    const kept = [...fleet.templates.map(({ name }) => name), ...kinds.map((kind) => CUSTOM + kind)]
    for (const [file, issues] of found) {
      const isKept = kept.includes(file.replace(/\.json$/, ''))
      const rest = isKept ? ': what was read of it before stays' : ''
      log.error({ file, issues }, `a template cannot be used${rest}`)
    }
    logged = unusable
  }
  const warned = new Map<string, string>()
  /** Logs once what the templates may not mean. */
  const reportWarnings = (templates: readonly Template[]): void => {
    for (const template of templates) {
      const issues = listWarnings(template)
      if (issues.length > 0 && warned.get(template.name) !== issues.join())
        log.warn({ template: template.name, issues }, 'a template may do what is not meant')
      warned.set(template.name, issues.join())
    }
  }
  return async (): Promise<void> => {
    const { templates, unusable } = await readTemplates(folder, {
      listKinds: () => listKinds(sql),
      engines,
    })
    const isUnusable = ({ name }: Template): boolean => `${name}.json` in unusable
    fleet.unusable = { ...fleet.unusable, ...unusable }
    fleet.templates = [
      ...templates.filter(({ kind }) => kind !== undefined),
      ...fleet.templates.filter(isUnusable),
    ]
    await recordVersions(sql, templates)
    reportChanges(fleet.templates)
    const custom = templates.filter(({ kind }) => kind === undefined)
    fleet.custom = [...custom, ...fleet.custom.filter(isUnusable)]
    const files = [...custom.map(({ name }) => name), ...Object.keys(unusable)]
    const names = files.flatMap((name) => customName(name.replace(/\.json$/, '')) ?? []).toSorted()
    const removed =
      known.get('all names') === names.join() ? [] : await removeTemplates(sql, names, 'templates')
    known.set('all names', names.join())
    if (removed.length > 0) notifyChange?.(RULES)
    for (const name of removed) {
      known.delete(name)
      log.info({ template: CUSTOM + name }, 'a template was removed; its tasks go on')
    }
    const noKind: Record<string, readonly string[]> = {}
    for (const template of custom) {
      const issues = await publish(template)
      if (issues.length > 0) noKind[`${template.name}.json`] = issues
    }
    fleet.unusable = { ...unusable, ...noKind }
    const kept = new Set([
      ...[...fleet.templates, ...fleet.custom].map(({ name }) => name),
      ...engines.map((engine) => CUSTOM + engine),
    ])
    for (const metric of metrics ? [metrics.fleetWaits, metrics.fleetRuns] : [])
      await keepSeries(metric, 'template', (name) => kept.has(name))
    await reportUnusable(fleet.unusable)
    reportWarnings(templates)
    const broken = Object.keys(fleet.unusable).map((file): [string, number] => [file, 0])
    const room = await listRoom(sql, [...fleet.templates, ...fleet.custom])
    if (await releaseTemplates(sql, { ...room, ...Object.fromEntries(broken) }))
      notifyChange(ADMISSION)
  }
}

/** Describes a template by the instances that can run it; where none responds, there are neither members nor issues. */
const describe = async ({ fleet }: KeeperDependencies, template: Template) => {
  const read = await Promise.all(
    fleet.instances
      .filter((instance) => instance.state() === 'up')
      .map((instance) => instance.explainClasses(template).catch(() => undefined)),
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
