import type { Batch, NewOperation, Operation } from '../index.ts'
import { requireLines } from '../lib/bytes.ts'
import { listLines } from './batch-file.ts'
import { confirmDeletion } from './confirm.ts'
import { readPairs, take, text } from './context.ts'
import type { Command, Context } from './context.ts'
import { EXIT, readNamed, UsageError } from './error.ts'
import { LISTED, readAll, readNumber } from './parts.ts'
import { cleanText, counted, describeReplay } from './words.ts'

type Bulk = Batch | Operation
type Name = 'batch' | 'operation'

const routesOf = ({ kiln }: Context, name: Name) =>
  name === 'batch' ? kiln.batches : kiln.operations

/** Names a request of a batch for people, who count from 1; its index counts from 0. */
type NamePlace = (index: number) => string

const nameRequest: NamePlace = (index) => `request ${index + 1}`

/** Follows one to its end; fails when not all of it was done. */
const follow = async (
  context: Context,
  name: Name,
  id: string,
  namePlace = nameRequest,
): Promise<number> => {
  const { kiln, screen, signal } = context
  context.leave(`kiln ${name} status ${id}`)
  const onProgress = (bulk: Bulk): void => {
    const { waits_for: wait } = bulk as Partial<Batch>
    const what = wait === undefined ? bulk.state : `${bulk.state}: ${wait}`
    screen.show(what, bulk.total === 0 ? undefined : (1 - countLeft(bulk) / bulk.total) * 100)
  }
  const options = { signal, onProgress }
  const wait = name === 'batch' ? kiln.batches.wait : kiln.operations.wait
  const bulk = await wait(id, options)
  const shown = name === 'batch' ? await readRejected(context, id, bulk, namePlace) : []
  return end(context, bulk, id, shown)
}

/** Rejected lines that are shown of a batch. */
const SHOWN = 3

/** Describes the first lines that were rejected, and says where all of them are. */
const readRejected = async (
  { kiln, signal }: Context,
  id: string,
  { counts }: Pick<Bulk, 'counts'>,
  namePlace: NamePlace,
): Promise<string[]> => {
  const lines: string[] = []
  const all = Math.min(SHOWN, counts.rejected)
  if (all === 0) return []
  for await (const { index, custom_id, state, error } of kiln.batches.results(id, { signal })) {
    const named = custom_id === undefined ? '' : ` (${cleanText(custom_id)})`
    if (state === 'rejected')
      lines.push(`  ${namePlace(index)}${named}: ${error?.code}: ${error?.message}`)
    if (lines.length === all) break
  }
  return [...lines, `All results: kiln batch results ${id}`]
}

const list = (name: Name) => async (context: Context) => {
  take(context)
  const { screen, signal } = context
  const limit = readNumber(context, 'limit') ?? LISTED
  // One name for both ids.
  const listed = routesOf(context, name).list({ limit }, { signal })
  const bulks = await readAll(listed as AsyncIterable<Listed>)
  const lines = bulks.map(({ batch_id, operation_id, state, total, created_at: at }) =>
    [batch_id ?? operation_id, state, `${total} in all`, at].join('  '),
  )
  screen.print(lines.length > 0 ? lines : ['none'], bulks)
  return EXIT.done
}

type Listed = Pick<Bulk, 'state' | 'total' | 'created_at'> &
  Partial<Record<'batch_id' | 'operation_id', string>>

/** Items that have not ended; of an operation those that it has not acted on. */
const countLeft = ({ counts }: Bulk): number => {
  const {
    pending,
    waiting = 0,
    queued = 0,
    running = 0,
  } = counts as Partial<Batch['counts']> & Operation['counts']
  return pending + waiting + queued + running
}

const end = ({ screen }: Context, bulk: Bulk, id: string, shown: string[]): number => {
  screen.print([...describe(bulk, id), ...shown], bulk)
  const { failed = 0, rejected } = bulk.counts as { failed?: number; rejected: number }
  const isWhole = bulk.state === 'done' && failed + rejected === 0
  return isWhole ? EXIT.done : EXIT.failed
}

const describe = ({ state, total, counts, error, ...more }: Bulk, id: string): string[] => [
  `${id} ${state}, ${total} in all`,
  ...Object.entries(counts).flatMap(([name, count]) => (count > 0 ? `  ${name} ${count}` : [])),
  ...('waits_for' in more ? [`  ${more.waits_for}`] : []),
  ...(error ? [`  ${error.code}: ${error.message}`] : []),
]

const begun = async (
  context: Context,
  name: Name,
  id: string,
  namePlace?: NamePlace,
): Promise<number> => {
  if (context.values['no-wait'] !== true) return await follow(context, name, id, namePlace)
  context.screen.print([id], { [`${name}_id`]: id })
  return EXIT.done
}

/** Parts of a command about one that was begun. */
const WITH_ID: Record<string, (context: Context, name: Name, id: string) => Promise<number>> = {
  status: async (context, name, id) => {
    const bulk = await routesOf(context, name).read(id, { signal: context.signal })
    context.screen.print(describe(bulk, id), bulk)
    return EXIT.done
  },
  watch: follow,
  results: async (context, name, id) => {
    for await (const line of routesOf(context, name).results(id, { signal: context.signal }))
      process.stdout.write(`${JSON.stringify(line)}\n`)
    return EXIT.done
  },
  cancel: async (context, name, id) => {
    const bulk = await routesOf(context, name).cancel(id, { signal: context.signal })
    context.screen.print(describe(bulk, id), bulk)
    return EXIT.done
  },
}

/** Runs the part of a command that the first argument names. */
const runPart =
  (name: Name, parts: Record<string, (context: Context) => Promise<number>>): Command['run'] =>
  async (context) => {
    const [part = '', ...positionals] = context.positionals
    const own = parts[part]
    if (own) return await own({ ...context, positionals })
    const withId = WITH_ID[part]
    if (!withId)
      throw new UsageError(
        `expected ${[...Object.keys(parts), ...Object.keys(WITH_ID)].join(', ')}`,
      )
    const [id = ''] = take({ ...context, positionals }, `${name} id`)
    return await withId(context, name, id)
  }

const submit = async (context: Context): Promise<number> => {
  const { kiln, screen, signal, values } = context
  const [path = ''] = take(context, 'file')
  // Bytes, and no stream: the service knows by their digest that it has them, so that a key may be given again.
  const requests = await readNamed(path)
  await requireLines(requests, path)
  const numbers = listLines(requests, path)
  screen.show('sending')
  const labels = readPairs(values, 'label')
  const options = {
    ...(labels.length > 0 && { labels: Object.fromEntries(labels) }),
    webhookUrl: text(values, 'webhook-url'),
    signal,
  }
  const id = await kiln.batches.create(requests, {
    ...options,
    idempotencyKey: text(values, 'idempotency-key'),
    onReplayed: (replay) => screen.record(describeReplay(replay, 'batch')),
  })
  return await begun(context, 'batch', id, (index) => `line ${numbers[index]}`)
}

const start = async (context: Context): Promise<number> => {
  const { kiln, screen, signal, values } = context
  const [action = ''] = take(context, 'action')
  const list = (name: string) => text(values, name)?.split(',')
  const labels = readPairs(values, 'label').map(([name, value]) => `${name}:${value}`)
  const filter = {
    ...(labels.length > 0 && { label: labels }),
    kind: list('kind'),
    state: list('state'),
    task_ids: list('task'),
    from: text(values, 'from'),
    to: text(values, 'to'),
    q: text(values, 'prompt'),
    batch_id: text(values, 'batch'),
  }
  const owner = text(values, 'owner')
  const all = values['all'] === true
  if (!all && Object.values(filter).every((value) => (value ?? '') === ''))
    throw new UsageError('no filter is given: --all acts on all tasks')
  // What is none of its words the service rejects, and lists them.
  const given = { action, filter, ...(owner !== undefined && { owner }), ...(all && { all }) }
  const body = given as NewOperation
  if (values['dry-run'] === true) {
    const matched = await kiln.operations.count(body, { signal })
    screen.print([`${matched} tasks`], { matched })
    return EXIT.done
  }
  if (action === 'delete')
    await confirmDeletion(context, async () => {
      const matched = await kiln.operations.count(body, { signal })
      return { what: `${counted(matched, 'task')} with all files`, word: String(matched) }
    })
  return await begun(context, 'operation', await kiln.operations.create(body, { signal }))
}

const NO_WAIT = { 'no-wait': { type: 'boolean' } } as const
const TEXT = { type: 'string' } as const
const PAIRS = { type: 'string', multiple: true } as const

export const BULK_COMMANDS: Record<string, Command> = {
  batch: {
    usage: 'submit <file.jsonl>|list|status|watch|results|cancel <batch id>',
    summary: 'makes a task of each line of a file: {"path": …, "body": …}',
    help: [
      '--label key=value  a label of each task; repeatable',
      '--webhook-url      is notified when the last task has ended',
      '--idempotency-key  the same key gives the same batch',
      '--no-wait          prints its id, and does not wait',
      `--limit            the most that list shows, ${LISTED} unless given`,
    ],
    options: {
      ...NO_WAIT,
      label: PAIRS,
      'webhook-url': TEXT,
      'idempotency-key': TEXT,
      limit: TEXT,
    },
    run: runPart('batch', { submit, list: list('batch') }),
  },
  operation: {
    usage:
      'start cancel|run_again|redeliver|delete|list|status|watch|results|cancel <operation id>',
    summary: 'acts on all tasks that a filter finds',
    help: [
      '--label         only tasks with this label, key=value; repeatable',
      '--state, --kind  only tasks of these, separated by commas',
      '--from, --to     only tasks made between these times',
      '--prompt         only tasks with this in their prompt',
      '--batch          only tasks of this batch',
      '--task           these tasks, separated by commas',
      '--owner          of platform admins: whose tasks; * for those of all',
      '--all            all tasks, in place of a filter',
      '--dry-run        only counts them',
      '--yes            deletes without a question, which is asked on a terminal alone',
      '--no-wait        prints its id, and does not wait',
      `--limit          the most that list shows, ${LISTED} unless given`,
    ],
    options: {
      ...NO_WAIT,
      label: PAIRS,
      all: { type: 'boolean' },
      'dry-run': { type: 'boolean' },
      yes: { type: 'boolean' },
      state: TEXT,
      kind: TEXT,
      from: TEXT,
      to: TEXT,
      prompt: TEXT,
      batch: TEXT,
      task: TEXT,
      owner: TEXT,
      limit: TEXT,
    },
    run: runPart('operation', { start, list: list('operation') }),
  },
}
