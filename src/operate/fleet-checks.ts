import { readSystem } from '../adapters/comfyui/instance.ts'
import type { Instance } from '../adapters/comfyui/instance.ts'
import { readTemplates } from '../adapters/comfyui/templates.ts'
import { TEMPLATE_KINDS } from '../domain/template/fields.ts'
import type { Template } from '../domain/template/template.ts'
import { OperatorError } from '../process/operator-error.ts'
import { makeEngineOf, readInstances } from '../process/settings/derived.ts'
import type { Config } from '../process/settings/env.ts'
import type { Check } from './doctor.ts'
import { openInstance } from './fleet.ts'

/** Makes the checks of the engine comfyui: the templates, and each instance. None where nothing uses it. */
export const makeFleetChecks = (config: Config): Check[] => {
  const engineOf = makeEngineOf(config)
  const kinds = TEMPLATE_KINDS.filter((kind) => engineOf(kind) === 'comfyui')
  if (config.COMFYUI_URLS.length + kinds.length === 0) return []
  if (config.COMFYUI_URLS.length === 0) return [['comfyui', [], '', () => reportElsewhere(kinds)]]
  const templates = once(() => readTemplates(config.COMFYUI_TEMPLATES))
  const found = readInstances({ ...config, WORKER_ROLE: 'core' }).map((options) => ({
    name: options.name,
    // An address that cannot be read is an error of its check alone.
    examine: once(async () => await examineInstance(openInstance(options), templates)),
  }))
  const advice = 'start it, or correct its address in COMFYUI_URLS'
  return [
    [
      'templates',
      ['COMFYUI_TEMPLATES', 'COMFYUI_URLS'],
      'correct COMFYUI_TEMPLATES',
      async () => {
        const { templates: all, issues } = await templates()
        if (issues.length > 0) throw new OperatorError(issues.join('; '))
        const asked = await Promise.allSettled(found.map(({ examine }) => examine()))
        const reached = asked.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []))
        return reportTemplates(all, kinds, reached)
      },
    ],
    ...found.map(({ name, examine }): Check => [
      name,
      ['COMFYUI_URLS', 'COMFYUI_TOKEN'],
      advice,
      async () => describeInstance(await examine()),
    ]),
  ]
}

/** The line of the templates needs what those of the instances find. */
const once = <Found>(find: () => Promise<Found>): (() => Promise<Found>) => {
  let found: Promise<Found> | undefined
  return () => (found ??= find())
}

const reportElsewhere = (kinds: readonly string[]): Promise<string> =>
  Promise.resolve(
    `renders ${kinds.join(', ')}; with COMFYUI_URLS, which core workers have, its instances are looked at`,
  )

interface Examined {
  version: string
  isPrivate: boolean
  count: number
  /** By template. */
  issues: ReadonlyMap<string, readonly string[]>
}

const examineInstance = async (
  instance: Instance,
  read: () => ReturnType<typeof readTemplates>,
): Promise<Examined> => {
  const { client } = instance
  try {
    const { status, body } = await client.get('/system_stats')
    if (status === 401 || status === 403)
      throw new OperatorError(`responded with status ${status}: correct COMFYUI_TOKEN`)
    const { version, argv } = readSystem(body)
    if (version === '')
      throw new OperatorError('is no ComfyUI: correct its address in COMFYUI_URLS')
    const { templates } = await read().catch(() => ({ templates: [] }))
    const issues = new Map<string, readonly string[]>()
    for (const template of templates)
      issues.set(template.name, (await instance.readClasses(template)).issues)
    const isPrivate = argv.includes('--disable-metadata')
    return { version, isPrivate, count: templates.length, issues }
  } finally {
    client.close()
  }
}

/** An instance need not have what all templates need, as long as another one has it. */
const describeInstance = ({ version, isPrivate, count, issues }: Examined): string => {
  const lacking = [...issues].filter(([, found]) => found.length > 0)
  return [
    `ComfyUI ${version} runs ${count - lacking.length} of ${count} templates`,
    ...(isPrivate ? [] : ['start it with --disable-metadata, or its files keep texts of callers']),
    ...lacking.map(([name, found]) => `for ${name} install there: ${found.join(', ')}`),
  ].join('; ')
}

const reportTemplates = (
  templates: readonly Template[],
  kinds: readonly string[],
  instances: readonly Examined[],
): string => {
  const without = kinds.filter((kind) => !templates.some((template) => template.kind === kind))
  if (without.length > 0)
    throw new OperatorError(
      `none for ${without.join(', ')}: add ${without[0]}.json to COMFYUI_TEMPLATES, or choose another engine in ENGINES`,
    )
  const isAble = (name: string) => instances.some(({ issues }) => issues.get(name)?.length === 0)
  const nowhere = templates.map(({ name }) => name).filter((name) => !isAble(name))
  if (nowhere.length > 0)
    throw new OperatorError(
      `no instance can run ${nowhere.join(', ')}: install what the lines of the instances name`,
    )
  return `${templates.length} are valid, and an instance can run each`
}
