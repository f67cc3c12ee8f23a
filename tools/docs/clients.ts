import { listRoutes } from './endpoints.ts'

/** Names of the clients for a route, or `path`, or a letter of REASONS. */
export interface ClientRow {
  tag: string
  route: string
  typescript: string
  python: string
  command: string
  tool: string
}

/** Why there is no name, by the letter that stands in its place. */
const REASONS = {
  a: 'A model is given few tools, so that it chooses well.',
  b: 'Events go to programs, and a model is given no secret.',
  c: 'It has no end: `wait` follows one task, `tasks.list` reads all.',
}

/**
 * Names in the clients of the routes of callers: in TypeScript and Python methods, on the command line what stands behind
 * `kiln`, and tools of a model. `path` is the way by the path of the route, which each has.
 */
const CLIENTS = `
POST {images}/image-relight | relight | relight | relight | make_image
POST {images}/image-upscaler | upscale | upscale | upscale | make_image
POST {images}/image-upscaler-precision-v2 | upscalePrecision | upscale_precision | path | make_image
POST {images}/skin-enhancer/flexible | skinFlexible | skin_flexible | skin | make_image
POST {images}/skin-enhancer/creative | skinCreative | skin_creative | skin | make_image
POST {images}/skin-enhancer/faithful | skinFaithful | skin_faithful | skin | make_image
GET {images}/image-relight | tasks.list | tasks.list | tasks | list_tasks
GET {images}/image-upscaler | tasks.list | tasks.list | tasks | list_tasks
GET {images}/image-upscaler-precision-v2 | tasks.list | tasks.list | tasks | list_tasks
GET {images}/skin-enhancer | tasks.list | tasks.list | tasks | list_tasks
GET {images}/image-relight/{task_id} | read, wait | read, wait | watch | read_task
GET {images}/image-upscaler/{task_id} | read, wait | read, wait | watch | read_task
GET {images}/image-upscaler-precision-v2/{task_id} | read, wait | read, wait | watch | read_task
GET {images}/skin-enhancer/{task_id} | read, wait | read, wait | watch | read_task
POST {images}/image-relight/{task_id}/cancel | cancel | cancel | cancel | cancel_task
POST {images}/image-upscaler/{task_id}/cancel | cancel | cancel | cancel | cancel_task
POST {images}/image-upscaler-precision-v2/{task_id}/cancel | cancel | cancel | cancel | cancel_task
POST {images}/skin-enhancer/{task_id}/cancel | cancel | cancel | cancel | cancel_task
GET /templates | templates.list | templates.list | templates | list_templates
POST /templates/{name}/tasks | templates.createTask | templates.create_task | run | run_template
GET /templates/{name}/tasks | tasks.list | tasks.list | tasks | list_tasks
GET /templates/{name}/tasks/{task_id} | read, wait | read, wait | watch | read_task
POST /templates/{name}/tasks/{task_id}/cancel | cancel | cancel | cancel | cancel_task
POST {videos}/text2video | textToVideo | text_to_video | video | make_video
POST {videos}/img2video | imageToVideo | image_to_video | video | make_video
POST {videos}/start-end2video | startEndToVideo | start_end_to_video | path | a
POST {videos}/extend | extendVideo | extend_video | extend | a
GET {videos}/tasks/{task_id}/creations | read, wait | read, wait | watch | read_task
POST {videos}/tasks/{task_id}/cancel | cancel | cancel | cancel | cancel_task
GET {videos}/tasks | tasks.list | tasks.list | tasks | list_tasks
GET {videos}/credits | credits | credits | path | read_usage
GET /usage | usage | usage | usage | read_usage
GET /tasks | tasks.list | tasks.list | tasks | list_tasks
GET /tasks/summary | tasks.summary | tasks.summary | tasks summary | a
GET /tasks/{task_id} | tasks.details | tasks.details | tasks show | a
POST /tasks/{task_id}/tokens | makeToken | make_token | path | b
DELETE /tasks/{task_id} | tasks.delete | tasks.delete | tasks delete | delete_task
GET /events | events.list | events.list | path | b
GET /tasks/{task_id}/events | events.ofTask | events.of_task | path | b
GET /tasks/{task_id}/events/{event_id}/attempts | events.attempts | events.attempts | path | b
POST /tasks/{task_id}/events/{event_id}/redeliver | events.redeliver | events.redeliver | path | b
POST /events/redeliver | events.redeliverAll | events.redeliver_all | operation start | b
GET /webhook-secret | secrets.list | secrets.list | secrets | b
POST /webhook-secret/rotate | secrets.rotate | secrets.rotate | secrets rotate | b
GET /tasks/stream | c | c | c | c
GET /tasks/{task_id}/stream | wait | wait | watch | make_image
GET /nodes/{nodeId}/versions/{version}/stream | registry.waitForVerdict | registry.wait | watch | a
POST /batches | batches.create | batches.create | batch submit | a
GET /batches | batches.list | batches.list | batch list | a
GET /batches/{id} | batches.read, batches.wait | batches.read, batches.wait | batch status, batch watch | a
GET /batches/{id}/results | batches.results | batches.results | batch results | a
POST /batches/{id}/cancel | batches.cancel | batches.cancel | batch cancel | a
POST /operations | operations.create, operations.count | operations.create, operations.count | operation start | a
GET /operations | operations.list | operations.list | operation list | a
GET /operations/{id} | operations.read, operations.wait | operations.read, operations.wait | operation status, operation watch | a
GET /operations/{id}/results | operations.results | operations.results | operation results | a
POST /operations/{id}/cancel | operations.cancel | operations.cancel | operation cancel | a
POST /publishers | path | path | token | a
GET /publishers/validate | path | path | path | a
GET /publishers/{publisherId} | path | path | path | a
PUT /publishers/{publisherId} | path | path | path | a
GET /publishers | path | path | path | a
GET /users/publishers/ | path | path | path | a
GET /publishers/{publisherId}/members | path | path | path | a
PUT /publishers/{publisherId}/members/{userId} | path | path | path | a
DELETE /publishers/{publisherId}/members/{userId} | path | path | path | a
POST /publishers/{publisherId}/tokens | path | path | token | b
POST /publishers/{publisherId}/nodes/{nodeId}/publish-tokens | path | path | path | b
GET /publishers/{publisherId}/tokens | path | path | path | b
DELETE /publishers/{publisherId}/tokens/{tokenId} | path | path | path | b
GET /publishers/{publisherId}/logo | path | path | path | a
PUT /publishers/{publisherId}/logo | path | path | path | a
DELETE /publishers/{publisherId}/logo | path | path | path | a
GET /publishers/{publisherId}/permissions | path | path | path | a
POST /publishers/{publisherId}/nodes/{nodeId}/token-exchange | path | path | path | b
POST /publishers/{publisherId}/nodes/{nodeId}/trusted-publishers | path | path | path | b
GET /publishers/{publisherId}/nodes/{nodeId}/trusted-publishers | path | path | path | b
GET /publishers/{publisherId}/trusted-publishers | path | path | path | b
DELETE /publishers/{publisherId}/nodes/{nodeId}/trusted-publishers/{trustedPublisherId} | path | path | path | b
POST /publishers/{publisherId}/nodes | path | path | path | a
PUT /publishers/{publisherId}/nodes/{nodeId} | registry.editNode | registry.edit_node | node edit | a
DELETE /publishers/{publisherId}/nodes/{nodeId} | path | path | path | a
GET /publishers/{publisherId}/nodes | path | path | path | a
GET /publishers/{publisherId}/nodes/v2 | path | path | path | a
GET /nodes/search | registry.searchNodes | registry.search | path | search_packs
GET /nodes | path | path | path | a
GET /nodes/{nodeId} | registry.readNode | registry.node | path | read_findings
GET /nodes/{nodeId}/downloads | path | path | path | a
GET /nodes/{nodeId}/icon | path | path | path | a
GET /nodes/{nodeId}/banner | path | path | path | a
PUT /publishers/{publisherId}/nodes/{nodeId}/icon | path | path | path | a
DELETE /publishers/{publisherId}/nodes/{nodeId}/icon | path | path | path | a
PUT /publishers/{publisherId}/nodes/{nodeId}/banner | path | path | path | a
DELETE /publishers/{publisherId}/nodes/{nodeId}/banner | path | path | path | a
GET /publishers/{publisherId}/nodes/{nodeId}/permissions | path | path | path | a
POST /nodes/{nodeId}/reports | path | path | path | a
GET /nodes/{nodeId}/reports/mine | path | path | path | a
POST /publishers/{publisherId}/nodes/{nodeId}/transfer | path | path | path | a
GET /publishers/{publisherId}/transfers | path | path | path | a
POST /publishers/{publisherId}/transfers/{transferId}/accept | path | path | path | a
DELETE /publishers/{publisherId}/transfers/{transferId} | path | path | path | a
GET /nodes/{nodeId}/reviews | registry.listReviews | registry.reviews | path | a
GET /nodes/{nodeId}/reviews/mine | path | path | path | a
PUT /nodes/{nodeId}/reviews/mine | registry.review | registry.review | path | a
POST /nodes/{nodeId}/reviews | registry.review | registry.review | path | a
DELETE /nodes/{nodeId}/reviews/mine | path | path | path | a
POST /nodes/{nodeId}/reviews/{reviewId}/report | path | path | path | a
PUT /publishers/{publisherId}/nodes/{nodeId}/reviews/{reviewId}/reply | path | path | path | a
POST /publishers/{publisherId}/nodes/{nodeId}/versions | registry.publish | registry.publish | publish | a
POST /registry/check | registry.checkArchive | registry.check | check | a
PUT /publishers/{publisherId}/nodes/{nodeId}/versions/{versionId} | registry.editVersion | registry.edit_version | version deprecate | a
DELETE /publishers/{publisherId}/nodes/{nodeId}/versions/{versionId} | registry.deleteVersion | registry.delete_version | version delete | a
GET /nodes/{nodeId}/versions | registry.listVersions | registry.versions | version list | a
GET /nodes/{nodeId}/versions/{version} | registry.readVersion | registry.version | watch | read_findings
GET /nodes/{nodeId}/install | registry.install | registry.install | path | a
GET /versions | path | path | path | a
GET /nodes/{nodeId}/compare | path | path | path | a
POST /bulk/nodes/versions | path | path | path | a
GET /nodes/{nodeId}/versions/{version}/findings | registry.readFindings | registry.findings | version findings | read_findings
POST /publishers/{publisherId}/nodes/{nodeId}/versions/{versionId}/review | path | path | path | a
GET /nodes/{nodeId}/versions/{version}/example-workflows | path | path | path | a
GET /nodes/{nodeId}/versions/{version}/files | path | path | path | a
GET /nodes/{nodeId}/versions/{version}/files/content | path | path | path | a
POST /nodes/{nodeId}/versions/{version}/host-nodes | path | path | path | a
POST /publishers/{publisherId}/nodes/{nodeId}/versions/{versionId}/confirm-host-nodes | path | path | path | a
GET /nodes/{nodeId}/versions/{version}/host-nodes | registry.listHostNodes | registry.host_nodes | path | a
GET /nodes/{nodeId}/versions/{version}/host-nodes/{hostNodeName} | path | path | path | a
GET /host-nodes/{hostNodeName}/node | path | path | path | a
POST /workflows/resolve | registry.resolveWorkflow | registry.resolve_workflow | workflow resolve | resolve_workflow
POST /workflows/check | registry.checkWorkflow | registry.check_workflow | workflow check | check_workflow
POST /endpoints | endpoints.create | endpoints.create | endpoints create | b
GET /endpoints | endpoints.list | endpoints.list | endpoints | b
GET /endpoints/{endpoint_id} | endpoints.read | endpoints.read | endpoints show | b
PUT /endpoints/{endpoint_id} | endpoints.update | endpoints.update | endpoints update | b
DELETE /endpoints/{endpoint_id} | endpoints.delete | endpoints.delete | endpoints delete | b
POST /endpoints/{endpoint_id}/webhook-secret/rotate | endpoints.rotateSecret | endpoints.rotate_secret | endpoints rotate | b
POST /endpoints/{endpoint_id}/test | endpoints.test | endpoints.test | endpoints test | b
POST /endpoints/{endpoint_id}/redeliver | endpoints.redeliverAll | endpoints.redeliver_all | path | b
GET /endpoints/{endpoint_id}/events | endpoints.events | endpoints.events | path | b
GET /endpoints/{endpoint_id}/events/{event_id}/attempts | endpoints.attempts | endpoints.attempts | path | b
POST /endpoints/{endpoint_id}/events/{event_id}/redeliver | endpoints.redeliver | endpoints.redeliver | path | b
POST /publishers/{publisherId}/endpoints | path | path | path | b
GET /publishers/{publisherId}/endpoints | path | path | path | b
GET /publishers/{publisherId}/endpoints/{endpoint_id} | path | path | path | b
PUT /publishers/{publisherId}/endpoints/{endpoint_id} | path | path | path | b
DELETE /publishers/{publisherId}/endpoints/{endpoint_id} | path | path | path | b
POST /publishers/{publisherId}/endpoints/{endpoint_id}/webhook-secret/rotate | path | path | path | b
POST /publishers/{publisherId}/endpoints/{endpoint_id}/test | path | path | path | b
POST /publishers/{publisherId}/endpoints/{endpoint_id}/redeliver | path | path | path | b
GET /publishers/{publisherId}/endpoints/{endpoint_id}/events | path | path | path | b
GET /publishers/{publisherId}/endpoints/{endpoint_id}/events/{event_id}/attempts | path | path | path | b
POST /publishers/{publisherId}/endpoints/{endpoint_id}/events/{event_id}/redeliver | path | path | path | b
POST /customers/storage | upload | upload | upload | make_image
DELETE /customers/storage/{id} | path | path | path | a
PUT /uploads/{id} | upload | upload | upload | make_image
GET /files/{id}/{name} | download, save | save | watch | save_file
GET /archives/{publisherId}/{nodeId}/{version}/node.zip | download, save | save | path | a
GET /users | path | path | path | a
POST /users/api-keys | path | path | path | b
GET /users/api-keys | path | path | path | b
DELETE /users/api-keys/{id} | path | path | path | b
`

/** Areas that are not for callers. */
const OTHERS: ReadonlySet<string> = new Set([
  'Registry admin',
  'Operations',
  'Engines',
  'Health',
  'Documentation',
])

/** The rows of all routes for callers, in the order of the document. Throws where a route has none, or a row has no route. */
export const listClientRows = (): ClientRow[] => {
  const rows = new Map(
    CLIENTS.trim()
      .replaceAll('{images}', '/proxy/imgvendor/v1/ai')
      .replaceAll('{videos}', '/proxy/vidvendor')
      .split('\n')
      .map((line) => line.split(' | '))
      .map(([route = '', ...cells]) => [route, cells] as const),
  )
  const listed = listRoutes()
    .filter(({ tag, path }) => !OTHERS.has(tag) && !path.startsWith('/admin/'))
    .map(({ tag, method, path }) => {
      const route = `${method.toUpperCase()} ${path.replaceAll(/:(\w+)/g, '{$1}')}`
      const [typescript = '', python = '', command = '', tool = ''] = rows.get(route) ?? []
      rows.delete(route)
      if (tool === '') throw new Error(`${route} has no row in tools/docs/clients.ts`)
      return { tag, route, typescript, python, command, tool }
    })
  const [left] = rows.keys()
  if (left !== undefined) throw new Error(`${left} of tools/docs/clients.ts is no route of callers`)
  return listed
}

/** Names of a cell; none of one that goes by its path or has a reason. */
export const namesOf = (cell: string): string[] =>
  cell === 'path' || cell in REASONS ? [] : cell.split(', ')

const HEAD = ['operation', 'TypeScript', 'Python', '`kiln …`', 'tool of a model']

/** The table of what the clients have for each route, and why they have nothing. Routes without a name are counted. */
export const makeClientTable = (): string => {
  const rows = listClientRows()
  const tags = [...new Set(rows.map(({ tag }) => tag))]
  const cells = tags.flatMap((tag) => {
    const ofTag = rows.filter((row) => row.tag === tag)
    const named = ofTag.filter((row) => cellsOf(row).some((cell) => namesOf(cell).length > 0))
    const others = ofTag.filter((row) => !named.includes(row))
    return [
      ...named.map((row) => [`\`${row.route}\``, ...cellsOf(row).map(showCell)]),
      ...(others.length > 0 ? [describeOthers(tag, others)] : []),
    ]
  })
  const reasons = Object.entries(REASONS).map(([letter, reason]) => `- — ${letter}: ${reason}`)
  return `${alignTable([HEAD, ...cells])}\n\n${reasons.join('\n')}`
}

const cellsOf = ({ typescript, python, command, tool }: ClientRow): string[] => [
  typescript,
  python,
  command,
  tool,
]

const showCell = (cell: string): string => {
  const names = namesOf(cell).map((name) => `\`${name}\``)
  if (names.length > 0) return names.join(', ')
  return cell === 'path' ? 'by path' : `— ${cell}`
}

/** One row for the routes of an area that have no name anywhere. */
const describeOthers = (tag: string, rows: readonly ClientRow[]): string[] => {
  const columns = rows.map(cellsOf)
  const merged = [0, 1, 2, 3].map((at) => [...new Set(columns.map((cells) => cells[at] ?? ''))])
  const [only] = rows
  const what = rows.length === 1 ? `\`${only?.route}\`` : `${rows.length} others of ${tag}`
  return [what, ...merged.map((cells) => cells.map(showCell).join(', '))]
}

/** A table whose columns are as wide as their widest cell, as the formatter has them. */
const alignTable = (rows: readonly string[][]): string => {
  const widths = HEAD.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)))
  const line = (cells: readonly string[], fill = ' '): string =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0, fill)).join(' | ')} |`
  const [head = [], ...rest] = rows
  return [
    line(head),
    line(
      HEAD.map(() => ''),
      '-',
    ),
    ...rest.map((row) => line(row)),
  ].join('\n')
}
