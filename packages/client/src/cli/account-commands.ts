import type { Endpoint, EndpointUpdate, Kiln, NewEndpoint, TaskItem } from '../index.ts'
import { confirmDeletion } from './confirm.ts'
import { readPairs, text } from './context.ts'
import type { Command, Context } from './context.ts'
import {
  defined,
  describeParts,
  LISTED,
  readAll,
  readLabels,
  readList,
  readNumber,
  runParts,
} from './parts.ts'
import type { Part } from './parts.ts'
import { cleanText } from './words.ts'

type Filter = NonNullable<Parameters<Kiln['tasks']['list']>[0]>

const readEndpoint = (context: Context, own: Record<string, unknown>) => {
  const headers = readPairs(context.values, 'header')
  return defined<EndpointUpdate>({
    events: readList(context, 'event'),
    kinds: readList(context, 'kind'),
    labels: readLabels(context),
    headers: headers.length > 0 ? Object.fromEntries(headers) : undefined,
    ...own,
  })
}

const readRotation = (context: Context): { overlap_seconds?: number } =>
  defined({ overlap_seconds: readNumber(context, 'overlap') })

const TASKS: Record<string, Part> = {
  '': {
    takes: [],
    run: (context) => {
      const filter = defined<Filter>({
        label: readLabels(context),
        state: readList(context, 'state'),
        kind: readList(context, 'kind'),
        q: text(context.values, 'prompt'),
        since: text(context.values, 'since'),
        until: text(context.values, 'until'),
        batch_id: text(context.values, 'batch'),
        limit: readNumber(context, 'limit') ?? LISTED,
      })
      return readAll(context.kiln.tasks.list(filter, context))
    },
    toLines: (tasks: TaskItem[]) =>
      tasks.map(({ task_id: id, state, kind, created_at: at, prompt = '' }) =>
        [id, state.padEnd(9), at.slice(0, 19), kind, cleanText(prompt, 40)].join('  ').trimEnd(),
      ),
  },
  show: { takes: ['task id'], run: (context, id = '') => context.kiln.tasks.details(id, context) },
  summary: { takes: [], run: (context) => context.kiln.tasks.summary(context) },
  delete: {
    takes: ['task id'],
    run: async (context, id = '') => {
      await confirmDeletion(context, () => ({ what: `${id} with all files`, word: 'delete' }))
      const when = context.values['when-ended'] === true ? 'ended' : 'now'
      await context.kiln.tasks.delete(id, { signal: context.signal, when })
      return { task_id: id, when }
    },
    toLines: ({ task_id: id, when }: { task_id: string; when: string }) => [
      when === 'now' ? `${id} is deleted` : `${id} is deleted, or will be at its end`,
    ],
  },
}

const ID = ['endpoint id']

const ENDPOINTS: Record<string, Part> = {
  '': {
    takes: [],
    run: (context) => context.kiln.endpoints.list(context),
    toLines: (endpoints: Endpoint[]) =>
      endpoints.map(({ id, status, url, events }) => [id, status, url, ...events].join('  ')),
  },
  create: {
    takes: ['url'],
    run: (context, url = '') => {
      const { events, labels, kinds, headers } = readEndpoint(context, {})
      const body = defined<NewEndpoint>({ url, events, labels, kinds, headers })
      return context.kiln.endpoints.create(body, context)
    },
  },
  show: { takes: ID, run: (context, id = '') => context.kiln.endpoints.read(id, context) },
  update: {
    takes: ID,
    run: (context, id = '') => {
      const [url, status] = ['to', 'status'].map((name) => text(context.values, name))
      return context.kiln.endpoints.update(id, readEndpoint(context, { url, status }), context)
    },
  },
  delete: {
    takes: ID,
    run: async (context, id = '') => {
      await confirmDeletion(context, () => ({ what: `the endpoint ${id}`, word: 'delete' }))
      await context.kiln.endpoints.delete(id, context)
      return { endpoint_id: id }
    },
    toLines: ({ endpoint_id: id }: { endpoint_id: string }) => [`${id} is deleted`],
  },
  test: { takes: ID, run: (context, id = '') => context.kiln.endpoints.test(id, context) },
  rotate: {
    takes: ID,
    run: (context, id = '') =>
      context.kiln.endpoints.rotateSecret(id, readRotation(context), context),
  },
}

type Secrets = { secret: string }[]
const toSecretLines = (secrets: Secrets): string[] => secrets.map(({ secret }) => secret)

const SECRETS: Record<string, Part> = {
  '': { takes: [], run: (context) => context.kiln.secrets.list(context), toLines: toSecretLines },
  rotate: {
    takes: [],
    run: (context) => context.kiln.secrets.rotate(readRotation(context), context),
    toLines: toSecretLines,
  },
}

const TEXT = { type: 'string' } as const
const LIST = { type: 'string', multiple: true } as const
const FLAG = { type: 'boolean' } as const

const named = (option: Command['options'][string], ...names: string[]): Command['options'] =>
  Object.fromEntries(names.map((name) => [name, option]))

const YES = '--yes             deletes without a question, which is asked on a terminal alone'
const OVERLAP =
  '--overlap         seconds for which the secret before signs, too; a day unless given'

export const ACCOUNT_COMMANDS: Record<string, Command> = {
  tasks: {
    usage: describeParts(TASKS),
    summary: 'lists your tasks, the newest first; shows, counts or deletes them',
    help: [
      '--label           only with this label, key=value; repeatable',
      '--state, --kind   only in these, separated by commas',
      '--since, --until  only made between these times',
      '--batch           only of this batch',
      '--prompt          only with this in their prompt',
      `--limit           most that are listed, ${LISTED} unless given`,
      '--when-ended      of delete: at its end, where it cannot be cancelled',
      YES,
    ],
    options: {
      ...named(LIST, 'label', 'state', 'kind'),
      ...named(TEXT, 'since', 'until', 'batch', 'prompt', 'limit'),
      ...named(FLAG, 'when-ended', 'yes'),
    },
    run: runParts(TASKS),
  },
  endpoints: {
    usage: describeParts(ENDPOINTS),
    summary: 'lists your endpoints of webhooks; makes, changes, tests or deletes one',
    help: [
      '--label           only of tasks with this label, key=value; repeatable',
      '--event           types of events, separated by commas',
      '--kind            only of tasks of these kinds',
      '--header          a header of every request, name=value; repeatable',
      '--to, --status    of update: another address; enabled or disabled',
      OVERLAP,
      YES,
    ],
    options: {
      ...named(LIST, 'label', 'event', 'kind', 'header'),
      ...named(TEXT, 'to', 'status', 'overlap'),
      yes: FLAG,
    },
    run: runParts(ENDPOINTS),
  },
  secrets: {
    usage: describeParts(SECRETS),
    summary: 'prints the secrets that sign your notifications, or replaces them',
    help: [OVERLAP],
    options: { overlap: TEXT },
    run: runParts(SECRETS),
  },
}
