import { once } from 'node:events'
import { readFile, realpath } from 'node:fs/promises'
import { resolve, sep } from 'node:path'

import type { CallToolResult, JsonSchemaType, ServerContext } from '@modelcontextprotocol/server'

import { responseOf } from '../index.ts'
import type { Kiln, RunningTask, Task, TaskKind } from '../index.ts'
import { text } from './context.ts'
import type { Command, Context } from './context.ts'
import { describeError, EXIT, parseNamed, UsageError } from './error.ts'
import { keepMakings } from './makings.ts'
import { describeReplay } from './words.ts'

/** Arguments of the tools, which the schema of each has validated. */
interface Given {
  kind?: keyof typeof IMAGE_KINDS
  image?: string
  prompt?: string
  model?: string
  duration?: number
  resolution?: string
  settings?: object
  wait?: boolean
  idempotency_key?: string
  task_id?: string
  state?: ('waiting' | 'queued' | 'running' | 'done' | 'failed' | 'cancelled')[]
  after?: string
  search?: string
  host_node?: string
  limit?: number
  node?: string
  version?: string
  file?: string
  host_version?: string
  installed?: Record<string, string>
  from?: Record<string, string>
  to?: Record<string, string>
}

/** Input of a tool. */
interface Call {
  kiln: Kiln
  given: Given
  signal: AbortSignal
  makings: ReturnType<typeof keepMakings>
  /** Reads an image that was given as a path. */
  readImage(image: string): Promise<string | Uint8Array>
  /** Reads a saved workflow below the folder. */
  readWorkflow(file: string): Promise<unknown>
  onProgress(progress: Pick<RunningTask, 'status' | 'progress' | 'waitsFor'>): void
}

interface Tool {
  title: string
  description: string
  members: Record<string, JsonSchemaType>
  required: readonly string[]
  run(call: Call): Promise<Record<string, unknown>>
}

const string = (description: string): JsonSchemaType => ({ type: 'string', description })

const IMAGE_KINDS = {
  relight: 'changes the light: prompt, style, light_transfer_strength',
  upscale: 'makes it larger: scale_factor such as 2x',
  upscalePrecision: 'makes it larger and keeps to it: scale_factor such as 2',
  skinFlexible: 'enhances skin: optimized_for such as improve_lighting',
  skinCreative: 'enhances skin with more style: sharpen, smart_grain',
  skinFaithful: 'enhances skin and keeps to the image: sharpen, smart_grain',
} as const satisfies Partial<Record<TaskKind, string>>

const IMAGE = 'An http(s) link, or the path of a picture in the folder of this server.'

/** Members of both tools that make something. */
const MAKING = {
  settings: {
    type: 'object',
    description:
      'Other members of the body, as the document of the service (/openapi.json) has them.',
  },
  wait: {
    type: 'boolean',
    description:
      'False returns once the task is made: read_task reads it later. True unless given.',
  },
  idempotency_key: string(
    'Makes another task of the same input, once. Without it the same call gives the task of the call before, until its end was read.',
  ),
} satisfies Record<string, JsonSchemaType>

const MAKERS: Record<string, Tool> = {
  make_image: {
    title: 'Make an image of an image',
    description: `Relights or upscales an image or enhances skin, waits a while for it, and returns the links of the result, or its task_id when it goes on. Kinds: ${Object.entries(
      IMAGE_KINDS,
    )
      .map(([kind, what]) => `${kind} ${what}`)
      .join('; ')}.`,
    members: {
      kind: { type: 'string', enum: Object.keys(IMAGE_KINDS) },
      image: string(IMAGE),
      prompt: string('Guides relight and upscale, such as "(sunset:1.3) from the left".'),
      ...MAKING,
    },
    required: ['kind', 'image'],
    run: async (call) => {
      const { kind = 'relight', image = '', prompt } = call.given
      return await make(call, kind, { image: await call.readImage(image), ...defined({ prompt }) })
    },
  },
  make_video: {
    title: 'Make a video',
    description:
      'Makes a video of a prompt, a first image, or both, waits a while for it, and returns its links, or its task_id when it goes on. It costs credits.',
    members: {
      prompt: string('What it shows. It is needed unless there is an image.'),
      image: string(`The first image. ${IMAGE}`),
      model: string('Such as videoq2-pro.'),
      duration: { type: 'integer', description: 'Seconds.' },
      resolution: string('Such as 540p.'),
      ...MAKING,
    },
    required: [],
    run: async (call) => {
      const { image, prompt, model, duration, resolution } = call.given
      const images = image === undefined ? {} : { images: [await call.readImage(image)] }
      const body = { ...images, ...defined({ prompt, model, duration, resolution }) }
      return await make(call, 'textToVideo', body)
    },
  },
  cancel_task: {
    title: 'Cancel a task',
    description: 'Cancels a task that has not ended. A video that is being rendered goes on.',
    members: { task_id: string('Its id, a UUID.') },
    required: ['task_id'],
    run: async ({ kiln, makings, given: { task_id: id = '' }, signal }) => {
      await kiln.cancel(id, { signal })
      return describeTask(await makings.read(id, signal))
    },
  },
}

/** Members of both tools that are about a workflow. */
const OF_WORKFLOW = {
  file: string(
    'Path of the workflow in the folder of this server: JSON or a PNG, as the host saves it.',
  ),
  host_version: string('Version of the host that the packs must fit.'),
} satisfies Record<string, JsonSchemaType>

const versions = (description: string): JsonSchemaType => ({
  type: 'object',
  additionalProperties: { type: 'string' },
  description: `${description}, by the id of the pack.`,
})

/** More of them would fill the model's view, and are counted. */
const LISTED_MAX = 100

const READERS: Record<string, Tool> = {
  read_task: {
    title: 'Read a task',
    description: 'Reads an image or video task as it is now, with fresh links of its files.',
    members: { task_id: string('Its id, a UUID.') },
    required: ['task_id'],
    run: async ({ makings, given: { task_id: id = '' }, signal }) =>
      describeTask(await makings.read(id, signal)),
  },
  list_tasks: {
    title: 'List tasks',
    description: 'Lists image and video tasks, the newest first.',
    members: {
      state: {
        type: 'array',
        items: { type: 'string' },
        description: 'Only tasks in these: waiting, queued, running, done, failed, cancelled.',
      },
      limit: { type: 'integer', minimum: 1, maximum: 100, description: '20 unless given.' },
      after: string('The `next` of the page before.'),
    },
    required: [],
    run: async ({ kiln, given: { state, limit = 20, after }, signal }) => {
      const query = { limit, ...(state && { state }), ...(after !== undefined && { after }) }
      return await responseOf(kiln.routes.GET('/tasks', { params: { query }, signal }))
    },
  },
  search_packs: {
    title: 'Search packs',
    description: 'Searches the registry for packs of extension nodes.',
    members: {
      search: string('Words, each of which must match.'),
      host_node: string('A part of the name of a host node of the pack.'),
      limit: { type: 'integer', minimum: 1, maximum: 50, description: '10 unless given.' },
    },
    required: [],
    run: async ({ kiln, given: { search, host_node, limit = 10 } }) => {
      const query = { ...defined({ search, host_node_search: host_node }), limit }
      const { nodes, total } = await kiln.registry.searchNodes(query)
      const packs = nodes.map(
        ({ id, name, description, publisher, downloads, latest_version }) => ({
          id,
          name,
          description,
          publisher: publisher.id,
          downloads,
          version: latest_version?.version,
        }),
      )
      return { total, packs }
    },
  },
  read_findings: {
    title: 'Read the findings of a version',
    description:
      'Reads what the checks have found in a version of a pack, and how it was decided on. Files and lines are for members of its publisher.',
    members: { node: string('Id of the pack.'), version: string('Its latest one unless given.') },
    required: ['node'],
    run: async ({ kiln: { registry }, given: { node: id = '', version } }) => {
      const number = version ?? (await registry.readNode(id)).latest_version?.version
      if (number === undefined) throw new UsageError(`${id} has no version that can be installed`)
      const read = await registry.readVersion(id, number)
      const findings = await registry.readFindings(id, read.version)
      const { status, status_reason, deprecated, host_node_extract_status: host_nodes } = read
      return {
        node: id,
        version: read.version,
        status,
        status_reason,
        deprecated,
        host_nodes,
        ...findings,
      }
    },
  },
}

const WORKFLOW_READERS: Record<string, Tool> = {
  resolve_workflow: {
    title: 'Find the packs that a workflow needs',
    description:
      'Says of a saved workflow of the host which packs have its nodes, in which versions they fit together, and which nodes are unknown.',
    members: { ...OF_WORKFLOW, installed: versions('Versions that are installed') },
    required: ['file'],
    run: async ({ kiln, given, readWorkflow, signal }) => {
      const { file = '', installed, host_version } = given
      const body = { workflow: await readWorkflow(file), ...defined({ installed, host_version }) }
      const { host_nodes, ...found } = await responseOf(
        kiln.routes.POST('/workflows/resolve', { body, signal }),
      )
      const unknown = host_nodes.filter(({ origin }) => origin === 'unknown')
      return { ...found, unknown_host_nodes: unknown.slice(0, LISTED_MAX) }
    },
  },
  check_workflow: {
    title: 'Say what updates of packs do to a workflow',
    description:
      'Compares, for a saved workflow of the host, versions of its packs, and says which of its nodes break, and which newest versions break nothing.',
    members: {
      ...OF_WORKFLOW,
      from: versions('Versions with which it works, else those it was saved with'),
      to: versions('Versions to compare with, else the newest that fit'),
    },
    required: ['file'],
    run: async ({ kiln, given, readWorkflow, signal }) => {
      const { file = '', from, to, host_version } = given
      const body = { workflow: await readWorkflow(file), ...defined({ from, to, host_version }) }
      const found = await responseOf(kiln.routes.POST('/workflows/check', { body, signal }))
      const unknown_host_nodes = found.unknown_host_nodes.slice(0, LISTED_MAX)
      return { ...found, unknown_host_nodes, changes: found.changes.slice(0, LISTED_MAX) }
    },
  },
}

/** The members that have a value. */
const defined = (members: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))

const make = async ({ given, makings, ...options }: Call, kind: TaskKind, body: object) => {
  const { settings, wait: isWaiting = true, idempotency_key: key } = given
  const asked = { kind, body: { ...settings, ...body }, key }
  const { task, isRepeated } = await makings.make(asked, { ...options, isWaiting })
  if (!task) return { state: 'sending', message: SENDING }
  const message = isRepeated ? REPEATED : task.state === 'running' ? GOES_ON : undefined
  return { ...describeTask(task), ...defined({ message }) }
}

const SENDING = 'The request is still being sent: the same call again goes on with it.'
const GOES_ON = 'It goes on: read_task reads it later.'
const REPEATED =
  'It is the task of the same call before: another idempotency_key makes another one.'

const describeTask = ({ id, replayed, ...task }: Task) => ({
  task_id: id,
  ...task,
  ...(replayed && { replayed: describeReplay(replayed, 'task') }),
})

/** Reads files of a kind below a folder alone: a model names them, and what it names is sent elsewhere. */
const readBelow = async (folder: string, name: string, kind: RegExp) => {
  const root = await realpath(folder)
  const path = await realpath(resolve(root, name)).catch(() => '')
  return path.startsWith(root + sep) && kind.test(path) ? await readFile(path) : undefined
}

const makeReadImage = (folder: string) => async (image: string) => {
  if (/^(https?|data):/.test(image)) return image
  const content = await readBelow(folder, image, PICTURE)
  if (content) return content
  // Nothing is said of files elsewhere, not even that they are there.
  throw new UsageError(`${image} is no link, and no picture in the folder of this server`)
}

const makeReadWorkflow = (folder: string) => async (file: string) => {
  const content = await readBelow(folder, file, /\.(json|png)$/i)
  if (content) return parseNamed(content, file)
  throw new UsageError(`${file} is no JSON or PNG file in the folder of this server`)
}

const PICTURE = /\.(avif|bmp|gif|hei[cf]|jpe?g|png|svg|tiff?|webp)$/i

/** Sends each progress to a client that has asked for it. Its numbers must grow; those of a video are percentages. */
const makeOnProgress = ({ mcpReq: { _meta, notify } }: ServerContext): Call['onProgress'] => {
  const progressToken = _meta?.progressToken
  let last = -1
  return ({ status, progress: percent, waitsFor: message = status }) => {
    if (progressToken === undefined) return
    last = percent !== undefined && percent > last ? percent : last + (last < 0 ? 1 : 0.01)
    const total = percent === undefined ? {} : { total: 100 }
    const params = { progressToken, progress: last, message, ...total }
    // Whoever has gone gets no response either.
    void notify({ method: 'notifications/progress', params }).catch(() => {})
  }
}

const toResult = (value: Record<string, unknown>): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(value) }],
  structuredContent: value,
})

const toFailure = (error: unknown): CallToolResult => {
  const { code, message, details } = describeError(error)
  const text = [`${code}: ${message}`, ...details].join('\n')
  return { content: [{ type: 'text', text }], isError: true }
}

/** Many clients give up after 30 s, others after 60. */
const WAIT_SECONDS = 20

const serve = async ({ kiln, signal, values }: Context): Promise<number> => {
  // They are a large part of this program, and no other command needs them.
  const { fromJsonSchema, McpServer } = await import('@modelcontextprotocol/server')
  const { serveStdio } = await import('@modelcontextprotocol/server/stdio')
  const folder = text(values, 'folder') ?? '.'
  const [readImage, readWorkflow] = [makeReadImage(folder), makeReadWorkflow(folder)]
  const isWriting = values['write'] === true
  const waitMs = Number(text(values, 'wait') ?? WAIT_SECONDS) * 1000
  if (!(waitMs >= 0 && waitMs <= 3_600_000))
    throw new UsageError('--wait must be seconds from 0 to 3600')
  const makings = keepMakings(kiln, waitMs)
  const readers = { ...READERS, ...WORKFLOW_READERS }
  const tools = { ...readers, ...(isWriting ? MAKERS : {}) }
  const makeServer = () => {
    const server = new McpServer({ name: 'kiln', version: '1' })
    for (const [name, { title, description, members, required, run }] of Object.entries(tools)) {
      const schema = { type: 'object', properties: members, required, additionalProperties: false }
      const inputSchema = fromJsonSchema<Given>(schema)
      const destructiveHint = name === 'cancel_task'
      const annotations = { readOnlyHint: name in readers, destructiveHint }
      server.registerTool(
        name,
        { title, description, inputSchema, annotations },
        (given, context) =>
          run({
            kiln,
            given,
            makings,
            readImage,
            readWorkflow,
            signal: context.mcpReq.signal,
            onProgress: makeOnProgress(context),
          }).then(toResult, toFailure),
      )
    }
    return server
  }
  const handle = serveStdio(makeServer)
  await once(process.stdin, 'close', { signal }).catch(() => {})
  await handle.close()
  return EXIT.done
}

export const mcp: Command = {
  usage: '[--write] [--folder <folder>] [--wait <seconds>]',
  summary: 'serves a model by the Model Context Protocol on standard input and output',
  help: [
    '--write   lets it make images and videos; without it reads alone',
    '--folder  where images and workflows may be read from; the current one unless given',
    '--wait    longest that a call waits for its task, 20 seconds unless given: many clients give up after 30',
  ],
  options: { write: { type: 'boolean' }, folder: { type: 'string' }, wait: { type: 'string' } },
  run: serve,
}
