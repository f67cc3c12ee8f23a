import { responseOf } from '../index.ts'
import type { TaskItem } from '../index.ts'
import { UsageError } from './error.ts'
import { cleanText, quote } from './words.ts'
import { describeTask, string } from './mcp-tool.ts'
import type { Tool } from './mcp-tool.ts'
import { defined, LISTED } from './parts.ts'
import { describeMembers } from './template-members.ts'

/** A page of tasks must fit whole: `next` goes on behind its last. */
const summarize = ({ task_id, kind, state, created_at, prompt, error, waits_for }: TaskItem) =>
  defined({
    task_id,
    kind,
    state,
    created_at,
    prompt: prompt === undefined ? undefined : cleanText(prompt, 120),
    error: error?.code,
    waits_for,
  })

/** Tools that read. */
export const READERS: Record<string, Tool> = {
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
    description:
      'Lists image and video tasks, the newest first, without their files: read_task has them.',
    members: {
      state: {
        type: 'array',
        items: { type: 'string' },
        description: 'Only tasks in these: waiting, queued, running, done, failed, cancelled.',
      },
      limit: { type: 'integer', minimum: 1, maximum: LISTED, description: '10 unless given.' },
      after: string('The `next` of the page before.'),
    },
    required: [],
    run: async ({ kiln, given: { state, limit = 10, after }, signal }) => {
      const query = { limit, ...(state && { state }), ...(after !== undefined && { after }) }
      const page = await responseOf(kiln.routes.GET('/tasks', { params: { query }, signal }))
      return { ...page, tasks: page.tasks.map(summarize) }
    },
  },
  read_usage: {
    title: 'Read credits and usage',
    description: 'Reads the credits that are left, and what ended tasks of 30 days have used.',
    members: {
      by: string('day, kind, or label:<key>; kind unless given.'),
      label: string('Only tasks with this label, key:value.'),
    },
    required: [],
    rest: '`kiln usage` prints all.',
    run: async ({ kiln, given: { by = 'kind', label }, signal }) => {
      const query = { by, ...(label !== undefined && { label: [label] }) }
      const { groups, total } = await kiln.usage(query, { signal })
      const { remains: credits } = await kiln.credits({ signal })
      return { credits, total, groups }
    },
  },
  list_templates: {
    title: 'List templates',
    description: 'Lists the templates of the service with the members that each takes.',
    members: {},
    required: [],
    rest: '`kiln templates` prints all.',
    run: async ({ kiln, signal }) => {
      const templates = await kiln.templates.list({ signal })
      return {
        templates: templates.map((one) => ({ name: one.name, members: describeMembers(one) })),
      }
    },
  },
  search_packs: {
    title: 'Search packs',
    description: 'Searches the registry for packs of extension nodes.',
    members: {
      search: string('Words of id, name, tags, publisher, description or host nodes.'),
      host_node: string('A part of a name of its host nodes.'),
      limit: { type: 'integer', minimum: 1, maximum: LISTED, description: '10 unless given.' },
    },
    required: [],
    rest: 'Search with more words.',
    run: async ({ kiln, given: { search, host_node, limit = 10 }, signal }) => {
      const query = { ...defined({ search, host_node_search: host_node }), limit }
      const { nodes, total } = await kiln.registry.searchNodes(query, { signal })
      const packs = nodes.map(
        ({ id, name, description, publisher, downloads, availability, latest_version }) => ({
          id,
          name,
          description,
          publisher: publisher.id,
          downloads,
          availability,
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
    rest: '`kiln version findings <pack>@<version>` prints all.',
    run: async ({ kiln: { registry }, given: { node: id = '', version }, signal }) => {
      const latest = async () => (await registry.readNode(id, { signal })).latest_version?.version
      const number = version ?? (await latest())
      if (number === undefined)
        throw new UsageError(`${quote(id)} has no version that can be installed`)
      const read = await registry.readVersion(id, number, { signal })
      const findings = await registry.readFindings(id, read.version, { signal })
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
