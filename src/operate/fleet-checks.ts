import { readSystem, type Instance } from '../engines/comfyui/instance.ts'
import { nameOf, readItem } from '../engines/comfyui/sources.ts'
import { listComfyKinds } from '../engines/comfyui/kinds.ts'
import { readTemplates } from '../engines/comfyui/templates.ts'
import { listKinds } from '../engines/db/template.ts'
import { describeMembers } from '../engines/domain/template/custom-kind.ts'
import { listAdvice } from '../engines/domain/template/fill.ts'
import { describeWithout } from '../engines/domain/template/gaps.ts'
import type { Template } from '../engines/domain/template/template.ts'
import { listWarnings } from '../engines/domain/template/warnings.ts'
import type { FleetItem } from '../engines/domain/fleet-item.ts'
import { countWaiting } from '../engines/db/fleet.ts'
import { OperatorError, OperatorWarning } from '../platform/process/operator-error.ts'
import type { Config } from '../compose/settings/env.ts'
import type { Sql } from '../platform/db/client.ts'
import type { CheckDeps } from './checks.ts'
import type { Check } from './doctor.ts'
import { listEngineNames, listFleetItems, openInstance } from './fleet.ts'
import { counted } from '../platform/domain/counted.ts'

const AWAY = 'start it, or correct its address in COMFYUI_URLS'

/** Makes the checks of the engine comfyui: the templates, and each instance. None where nothing uses it. */
export const makeFleetChecks = ({ config, sql }: Pick<CheckDeps, 'config' | 'sql'>): Check[] => {
  const kinds = listComfyKinds(config)
  const elsewhere = `renders ${kinds.join(', ')}; with COMFYUI_URLS, as core workers have it, its instances are asked`
  const waiting = makeWaitingCheck(sql)
  if (config.COMFYUI_URLS.length === 0)
    return kinds.length === 0
      ? []
      : [['comfyui', [], '', () => Promise.resolve(elsewhere)], waiting]
  const read = once(() =>
    readTemplates(config.COMFYUI_TEMPLATES, {
      listKinds: () => listKinds(sql()),
      engines: listEngineNames(config),
    }),
  )
  const items = listFleetItems(config).map((item) => ({
    name: nameOf(item),
    // An address that cannot be read is an error of its check alone.
    ask: once(async () => await askItem(config, item, await read().catch(() => undefined))),
  }))
  const checkTemplates = async (): Promise<string> => {
    const { templates, unusable } = await read()
    const asked = await Promise.allSettled(items.map(({ ask }) => ask()))
    const able = asked.flatMap((end) => (end.status === 'fulfilled' ? end.value.able : []))
    return reportTemplates(templates, kinds, able, Object.values(unusable).flat())
  }
  const needs = ['COMFYUI_URLS', 'COMFYUI_TEMPLATES', 'COMFYUI_TOKEN'] as const
  return [
    ['templates', needs, 'correct COMFYUI_TEMPLATES', checkTemplates],
    ...items.map(({ name, ask }): Check => [name, needs, AWAY, async () => (await ask()).line]),
    waiting,
  ]
}

/** Makes the check that counts tasks waiting for an instance, with what each candidate instance is missing. */
export const makeWaitingCheck = (sql: () => Sql): Check => [
  'waiting tasks',
  ['postgres'],
  'start PostgreSQL',
  () => checkWaiting(sql()),
]

const checkWaiting = async (sql: Sql): Promise<string> => {
  const waiting = await countWaiting(sql)
  const tasks = waiting.reduce((sum, queue) => sum + queue.tasks, 0)
  const reasons = waiting.flatMap((queue) => queue.reasons)
  const found = `${counted(tasks, 'task waits', 'tasks wait')} for an instance`
  if (reasons.length === 0) return found
  const shown = reasons.slice(0, MAX_REASONS).map((one) => `${one.reason} (${one.tasks})`)
  throw new OperatorWarning(`${found}: ${shown.join('; ')}`)
}

/** The console has the others. */
const MAX_REASONS = 5

/** Finds once: the line of the templates needs what the lines of the instances find. */
const once = <Found>(find: () => Promise<Found>): (() => Promise<Found>) => {
  let found: Promise<Found> | undefined
  return () => (found ??= find())
}

interface Asked {
  /** Names of templates. */
  able: string[]
  line: string
}

/** Asks the instances of an item of COMFYUI_URLS. Of those that a source names, each has a part of the line. */
const askItem = async (config: Config, item: FleetItem, read?: Read): Promise<Asked> => {
  if (item.kind === 'instance') return await askInstance(openInstance(config, item), read)
  const found = await readItem(item)
  if (found.length === 0) throw new OperatorWarning('names no instance now')
  const asked = await Promise.all(
    found.map(async (one) => {
      const ask = askInstance(openInstance(config, one), read)
      const { able, line } = await ask.catch((error: Error) => ({ able: [], line: error.message }))
      return { able, line: `${one.name} ${line}` }
    }),
  )
  return { able: asked.flatMap(({ able }) => able), line: asked.map(({ line }) => line).join('; ') }
}

interface Read {
  templates: readonly Template[]
}

/** Asks an instance which templates it can run. It need not be able to run all, as long as another one is. */
const askInstance = async (
  instance: Instance,
  { templates }: Read = { templates: [] },
): Promise<Asked> => {
  try {
    const { status, body } = await instance.client.get('/system_stats')
    if (status === 401 || status === 403)
      throw new OperatorError(`responded with status ${status}: correct COMFYUI_TOKEN`)
    const { version, argv } = readSystem(body)
    if (version === '')
      throw new OperatorError('is no ComfyUI: correct its address in COMFYUI_URLS')
    const able: string[] = []
    const advice = argv.includes('--disable-metadata')
      ? []
      : ['start it with --disable-metadata, or its files keep texts of callers']
    for (const template of templates) {
      const { classes, issues } = await instance.explainClasses(template)
      const noKind = template.kind === undefined ? describeMembers(template, [classes]).issues : []
      if (issues.length > 0) advice.push(`for ${template.name} install there: ${issues.join(', ')}`)
      else if (noKind.length > 0) advice.push(`${template.name} is no kind: ${noKind.join(', ')}`)
      else able.push(template.name)
      advice.push(...listAdvice(template, classes))
    }
    const found = `ComfyUI ${version} runs ${able.length} of ${templates.length} templates`
    return { able, line: [found, ...advice].join('; ') }
  } finally {
    instance.close()
  }
}

const reportTemplates = (
  templates: readonly Template[],
  kinds: readonly string[],
  able: readonly string[],
  issues: readonly string[],
): string => {
  const show = (found: string): string => [found, ...issues].join('; ')
  const without = kinds.filter((kind) => !templates.some((template) => template.kind === kind))
  const nowhere = templates.map(({ name }) => name).filter((name) => !able.includes(name))
  if (without.length > 0) throw new OperatorError(show(describeWithout(without)))
  const lines = `no instance can run ${nowhere.join(', ')}: the lines of the instances say why`
  if (nowhere.length > 0) throw new OperatorError(show(lines))
  const warnings = templates.flatMap((template) =>
    listWarnings(template).map((warning) => `${template.name}: ${warning}`),
  )
  const found = [
    `${counted(templates.length, 'is', 'are')} valid, and an instance can run each`,
    ...warnings,
  ].join('; ')
  if (issues.length > 0) throw new OperatorWarning(show(found))
  return found
}
