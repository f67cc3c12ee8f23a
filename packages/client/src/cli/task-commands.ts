import { basename, extname } from 'node:path'

import type { CreateOptions, EndedTask, Task, TaskKind, TaskRef, TemplateBody } from '../index.ts'
import { readPairs, take, text } from './context.ts'
import type { Command, Context } from './context.ts'
import { EXIT, readNamed, UsageError } from './error.ts'
import type { Create } from './makings.ts'
import { askFormat, checkFormat, checkPlace, saveResult } from './result-file.ts'
import { explainRun, helpOfTemplate, readFiles } from './run-template.ts'
import { listMembers } from './template-members.ts'
import { describeReplay } from './words.ts'

/** Options of a kind: the member of its body, and what the value is. `value` is a number or a word. */
type Members = Record<string, readonly [string, 'text' | 'value' | 'file', string]>

const PROMPT = { prompt: ['prompt', 'text', 'what it is to look like'] } as const
const VIDEO = {
  model: ['model', 'text', 'such as videoq2-pro'],
  duration: ['duration', 'value', 'seconds'],
  resolution: ['resolution', 'text', 'such as 540p'],
} as const

/** Options of every creation but its labels: the member of the body. A kind of the interface's own has `priority`. */
const TASK_OPTIONS = {
  priority: 'kiln_priority',
  'start-after': 'kiln_start_after',
  'start-within': 'kiln_start_within',
  'end-within': 'kiln_end_within',
  retention: 'kiln_retention_seconds',
} as const

/** Those of creations whose result may be an image. */
const PICTURE_OPTIONS = {
  'output-format': 'kiln_output_format',
  'output-quality': 'kiln_output_quality',
} as const
const PICTURE_HELP = [
  '--output-format   png, jpeg, webp, or auto: as the machine made it',
  '--output-quality  1 to 100, of a result that is JPEG or WebP',
]
const PICTURE_TYPES = {
  'output-format': { type: 'string' },
  'output-quality': { type: 'string' },
} as const

const CREATION_OPTIONS = {
  label: { type: 'string', multiple: true },
  priority: { type: 'string' },
  'start-after': { type: 'string' },
  'start-within': { type: 'string' },
  'end-within': { type: 'string' },
  retention: { type: 'string' },
  output: { type: 'string', short: 'o' },
  set: { type: 'string', multiple: true },
  'no-wait': { type: 'boolean' },
  'idempotency-key': { type: 'string' },
} as const

type Asked = { make: Create; files?: Record<string, string | string[]>; body?: object }

/** Makes a task of a kind: that the body belongs to it, its command says. */
export const makeOf =
  (kind: TaskKind): Create =>
  (kiln, body, options) =>
    (kiln[kind] as (body: object, options: CreateOptions) => Promise<Task>)(body, options)

interface Creation extends Pick<Command, 'usage' | 'summary' | 'furtherHelp'> {
  /** Medium of its results, where that is known. */
  medium?: 'image' | 'video'
  members: Members
  /** Chooses the kind, and what the arguments are of its body. */
  read(context: Context): Asked | Promise<Asked>
}

const defineCreation = ({ usage, summary, medium, members, read, ...rest }: Creation): Command => ({
  ...rest,
  usage: `${usage} [-o <file>] [options]`,
  summary,
  help: [
    ...Object.entries(members).map(
      ([name, [, type, help]]) =>
        `--${name.padEnd(12)} ${type === 'file' ? 'file or link: ' : ''}${help}`,
    ),
    '-o, --output      names the file for its result',
    '--label key=value a label of the task; repeatable',
    '--priority        1 to 3 ahead of your tasks that wait, -1 to -3 behind them',
    '--start-after     seconds, or a time, before which it does not begin',
    '--start-within    seconds until it must have begun',
    '--end-within      seconds until it must have ended',
    '--retention       seconds after its end until its files are removed',
    ...(medium === 'video' ? [] : PICTURE_HELP),
    '--set name=value  any other member of the body, as the document of the service has it; repeatable',
    '--no-wait         ends once the task is made',
    '--idempotency-key the same key gives the same task',
  ],
  options: {
    ...CREATION_OPTIONS,
    ...(medium !== 'video' && PICTURE_TYPES),
    ...Object.fromEntries(Object.keys(members).map((name) => [name, { type: 'string' as const }])),
  },
  run: async (context) => {
    // First, because the value of `--set name value` looks like a file.
    const asked = { ...readSet(context), ...readTaskOptions(context) }
    const { make, files = {}, body = {} } = await read(context)
    const output = text(context.values, 'output')
    if (medium) checkFormat(output, medium, asked['kiln_output_format'])
    // A task costs something, so its result must have a place before it is made.
    if (context.values['no-wait'] !== true) await checkPlace(output)
    const format = medium === 'video' ? {} : askFormat(output)
    const given: Record<string, unknown> = { ...format, ...body, ...asked }
    for (const [name, [member, type]] of Object.entries(members)) {
      const value = text(context.values, name)
      if (value === undefined) continue
      if (type === 'file') files[member] = value
      else given[member] = type === 'value' ? readValue(value) : value
    }
    for (const [member, path] of Object.entries(files))
      given[member] =
        typeof path === 'string'
          ? await giveFile(path, member)
          : await Promise.all(path.map((each) => giveFile(each)))
    return await create(context, { make, body: given, image: Object.values(files).flat()[0] })
  },
})

const readValue = (value: string): unknown => {
  try {
    return JSON.parse(value) as unknown
  } catch {
    return value
  }
}

/** Only the video of a prompt or an image has the interface's own name for its priority. */
const readTaskOptions = ({ name, values }: Context): Record<string, unknown> => {
  const given = Object.entries({ ...TASK_OPTIONS, ...PICTURE_OPTIONS }).flatMap(
    ([option, member]) => {
      const value = text(values, option)
      const own = option === 'priority' && name === 'video' ? 'priority' : member
      return value === undefined ? [] : [[own, readValue(value)] as const]
    },
  )
  const labels = readPairs(values, 'label')
  return {
    ...Object.fromEntries(given),
    ...(labels.length > 0 && { kiln_labels: Object.fromEntries(labels) }),
  }
}

const readSet = ({ values }: Context): Record<string, unknown> =>
  Object.fromEntries(readPairs(values, 'set').map(([name, value]) => [name, readValue(value)]))

const isLink = (path: string): boolean => /^(https?|data):/.test(path)

/** A link stays one. The client uploads bytes, or without a credential sends them inside the body. */
const giveFile = async (path: string, member = ''): Promise<unknown> => {
  const given = isLink(path) ? path : await readNamed(path)
  return member === 'images' ? [given] : given
}

type Creating = { make: Create; body: object; image: string | undefined }

const create = async (context: Context, { make, body, image }: Creating): Promise<number> => {
  const { kiln, screen, signal, values } = context
  const options = { signal, idempotencyKey: text(values, 'idempotency-key') }
  screen.show('sending')
  const task = await make(kiln, body, options)
  context.leave(`kiln watch ${task.id}`)
  const { replayed, warnings = [] } = task
  for (const warning of warnings) screen.record(`warning: ${warning}`)
  if (replayed) screen.record(describeReplay(replayed, 'task'))
  if (values['no-wait'] === true) {
    screen.print([task.id], { task_id: task.id, replayed, warnings })
    return EXIT.done
  }
  screen.record(`task ${task.id}`)
  const stem = nameResult(context.name, image, task.id)
  const ended = await waitForTask(context, task)
  // Of an address that is known only once it was fetched.
  for (const warning of ended.warnings ?? [])
    if (!warnings.includes(warning)) screen.record(`warning: ${warning}`)
  return await end(context, { ...ended, replayed }, text(values, 'output') ?? { stem })
}

/** `portrait.relight` of portrait.png; of a link or no image `video-` and the beginning of the id. */
const nameResult = (command: string, image: string | undefined, id: string): string =>
  image === undefined || isLink(image)
    ? `${command}-${id.slice(0, 8)}`
    : `${basename(image, extname(image))}.${command}`

const waitForTask = ({ kiln, screen, signal }: Context, task: TaskRef): Promise<EndedTask> =>
  kiln.wait(task, {
    signal,
    onProgress: ({ status, progress, waitsFor }) =>
      screen.show(waitsFor === undefined ? status : `${status}: ${waitsFor}`, progress),
  })

/** Reports how a task has ended, and saves its first file: under a name, or one of which the stem is given, or not at all. */
const end = async (
  { kiln, screen, signal }: Context,
  task: EndedTask,
  output: string | { stem: string } | undefined,
): Promise<number> => {
  const { id: task_id, state, status, replayed } = task
  const common = { task_id, state, status, replayed, warnings: task.warnings }
  if (task.state === 'failed') {
    const { engineError, ...error } = task.error
    const engine_error = engineError ?? (await readEngineError({ kiln, signal }, task_id))
    const lines = [
      `${task_id} failed: ${error.code}: ${error.message}`,
      ...(engine_error === undefined ? [] : [`engine: ${engine_error}`]),
    ]
    screen.print(lines, { ...common, error, engine_error })
    return EXIT.failed
  }
  const [file] = task.files
  const value = { ...common, files: task.files }
  if (file === undefined) {
    screen.print([`${task_id} ${status}, but its files are gone: make another task`], value)
    return EXIT.failed
  }
  if (output === undefined) {
    screen.print([`${task_id} ${status}`, ...task.files.map(({ url }) => url)], value)
    return EXIT.done
  }
  const saved = await saveResult({ kiln, signal }, { task_id, url: file.url, output })
  screen.print([saved], { ...value, saved })
  return EXIT.done
}

/** Reads what the engine of a task has said, which platform admins may always read. */
const readEngineError = async (
  { kiln, signal }: Pick<Context, 'kiln' | 'signal'>,
  task_id: string,
): Promise<string | undefined> => {
  const read = kiln.routes.GET('/tasks/{task_id}', { params: { path: { task_id } }, signal })
  const { data } = await read.catch(() => ({ data: undefined }))
  return data?.engine_error
}

/** The image that an image command begins with. */
const image = (kind: TaskKind) => (context: Context) => {
  const [path = ''] = take(context, 'image')
  return { make: makeOf(kind), files: { image: path } }
}

const SKIN: Record<string, TaskKind> = {
  flexible: 'skinFlexible',
  creative: 'skinCreative',
  faithful: 'skinFaithful',
}

export const TASK_COMMANDS: Record<string, Command> = {
  relight: defineCreation({
    usage: '<image>',
    summary: 'changes the light of an image',
    medium: 'image',
    members: {
      ...PROMPT,
      style: ['style', 'text', 'such as contrasted_n_hdr'],
      strength: ['light_transfer_strength', 'value', '0 to 100'],
      reference: ['transfer_light_from_reference_image', 'file', 'takes over its light'],
      lightmap: ['transfer_light_from_lightmap', 'file', 'the light that is wanted, in grey'],
    },
    read: image('relight'),
  }),
  upscale: defineCreation({
    usage: '<image>',
    summary: 'makes an image larger',
    medium: 'image',
    members: { ...PROMPT, scale: ['scale_factor', 'text', '2x, 4x, 8x or 16x'] },
    read: image('upscale'),
  }),
  skin: defineCreation({
    usage: 'flexible|creative|faithful <image>',
    summary: 'enhances skin',
    medium: 'image',
    members: {
      sharpen: ['sharpen', 'value', '0 to 100'],
      grain: ['smart_grain', 'value', '0 to 100'],
      for: ['optimized_for', 'text', 'of flexible, such as enhance_skin'],
    },
    read: (context) => {
      const [mode = '', path = ''] = take(context, 'mode', 'image')
      const kind = SKIN[mode]
      if (!kind) throw new UsageError(`there is no mode ${mode}: ${Object.keys(SKIN).join(', ')}`)
      return { make: makeOf(kind), files: { image: path } }
    },
  }),
  video: defineCreation({
    usage: '["prompt"]',
    summary: 'makes a video from a prompt, an image, or both',
    medium: 'video',
    members: {
      ...VIDEO,
      image: ['images', 'file', 'its first frame'],
      ratio: ['aspect_ratio', 'text', 'such as 16:9'],
      seed: ['seed', 'value', 'equal seeds give equal videos'],
    },
    read: ({ positionals, values }) => {
      if (positionals.length > 1) throw new UsageError('a prompt of several words needs quotes')
      if (positionals.length === 0 && values['image'] === undefined)
        throw new UsageError('expected a prompt, or --image')
      const [prompt] = positionals
      const make = makeOf('textToVideo')
      return { make, body: prompt === undefined ? {} : { prompt } }
    },
  }),
  extend: defineCreation({
    usage: '<task id>',
    summary: 'makes the video of a finished task longer',
    medium: 'video',
    members: { ...PROMPT, ...VIDEO, image: ['images', 'file', 'its last frame'] },
    read: async (context) => {
      const [id = ''] = take(context, 'task id')
      const source = await context.kiln.read(id, { signal: context.signal })
      if (source.state !== 'succeeded')
        throw new UsageError(`${id} is ${source.status}, no video yet`)
      const links = { video_creation_id: id, video_url: source.files[0]?.url }
      return { make: makeOf('extendVideo'), body: { model: 'videoq2-turbo', ...links } }
    },
  }),
  run: defineCreation({
    usage: '<template> [<file>] [<member>=<file or link>…]',
    summary:
      'runs a template, as `kiln run crisp photo.jpg -o crisp.jpg`; `kiln templates` lists them',
    furtherHelp: helpOfTemplate,
    members: PROMPT,
    read: async ({ kiln, signal, positionals: [name, ...given] }) => {
      if (name === undefined) throw new UsageError('expected a template')
      const files = await readFiles({ kiln, signal }, name, given)
      const make: Create = (kiln, body, options) =>
        kiln.templates
          .createTask(name, body as TemplateBody, options)
          .catch(async (error: unknown) => {
            throw await explainRun({ kiln, signal }, { name, body }, error)
          })
      return { make, files }
    },
  }),
}

export const listTemplates = async ({ kiln, screen, signal }: Context): Promise<number> => {
  const templates = await kiln.templates.list({ signal })
  const own = templates.flatMap((template) => [template.name, ...listMembers(template, 'own')])
  const [first] = templates
  const lines = first ? [...own, 'every template', ...listMembers(first, 'general')] : []
  screen.print(lines.length > 0 ? lines : ['this service has no templates'], { templates })
  return EXIT.done
}

export const watchTask = async (context: Context, id: string): Promise<number> => {
  const output = text(context.values, 'output')
  if (output !== undefined) await checkPlace(output)
  context.leave(`kiln watch ${id}`)
  const task = await context.kiln.read(id, { signal: context.signal })
  const ended = task.state === 'running' ? await waitForTask(context, task) : task
  return await end(context, ended, output)
}

export const cancelTask = async (context: Context): Promise<number> => {
  const [id = ''] = take(context, 'task id')
  const { state, status } = await context.kiln.cancel(id, { signal: context.signal })
  context.screen.print([`${id} is cancelled`], { task_id: id, state, status })
  return EXIT.done
}
