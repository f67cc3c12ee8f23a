import type { toHostNodeRow } from '../domain/host-node-validation.ts'
import type { CloudBuildInfo, HostNodeWithExamples } from '../domain/host-node.ts'
import type { NodeOfHostNode } from '../domain/node.ts'
import type { ExtractStatus } from '../domain/version.ts'
import type { Fragment, Queryable, Transaction } from '../../platform/db/client.ts'
import { joinPolicy, policyOf } from './host-node-policy.ts'
import { updateCurrentHostNodes, updateLatestVersion } from './version-transition.ts'
import { recordListChange } from './search/listed-count.ts'
import { getNode, type RecordOptions } from './node.ts'
import { lockNodeOfVersion } from './registry-lock.ts'
import type { ExampleWorkflow } from '../../../packages/inspector/src/inspection.ts'

/** A host node as it is stored; its name is the key of `HostNodeResult`. */
export type HostNodeFields = ReturnType<typeof toHostNodeRow> & {
  /** Fields that depend on the machine or could not be known. */
  dynamic?: string[]
}

/** Result of reading the host nodes of a version. */
export type HostNodeResult =
  | { success: true; nodes: ReadonlyMap<string, HostNodeFields>; partial?: boolean }
  | { success: false; reason: string | undefined }

/**
 * Source of a host node: `derived` by us from the archive, `reported` by a member or, as a hint, by a stranger,
 * `trusted` with the extraction token.
 */
export type HostNodeSource = 'derived' | 'reported' | 'trusted'

type HostNodesPut =
  | 'done'
  | 'version_not_found'
  | 'already_registered'
  | 'registration_closed'
  | 'archive_rejected'

interface HostNodePut {
  versionId: string
  source: HostNodeSource
  /** It came without a credential of the publisher: it never counts as read. */
  isHint?: boolean
  /** The user whose credential came with it. */
  by?: string | undefined
  result: HostNodeResult
  buildInfo?: CloudBuildInfo | undefined
}

/**
 * Stores all host nodes of a version, or why they could not be read, with the extract status. A report replaces a report
 * of no more weight (a hint, `reported`, `trusted`), but no derived success, and a hint replaces nothing that was derived.
 * `derived` replaces everything but a trusted success. A failure replaces no success, and one that a stranger reports
 * changes nothing.
 */
export const putHostNodes = async (sql: Transaction, put: HostNodePut): Promise<HostNodesPut> => {
  const { versionId, source, isHint = false, result } = put
  const success: ExtractStatus = isHint ? 'reported' : 'success'
  const node = await lockNodeOfVersion(sql, versionId)
  const [version] = await sql<ExtractState[]>`
    select host_node_extract_status as status, extract_source as source,
      archive_state = 'rejected' as "isRejected"
    from version
    where id = ${versionId} and status <> 'NodeVersionStatusDeleted'
    for no key update
  `
  if (!node || !version) return 'version_not_found'
  const rejection = reject(version, put)
  if (rejection) return rejection
  if (source !== 'derived') await insertReport(sql, put)
  if (isHint && !result.success) return 'done'
  const names = result.success && source !== 'derived' ? [...result.nodes.keys()] : []
  // Trigger `version_claimed` (0033): notes since when an active version claims their names. A report that adds names to
  // one that counted claims them from now on only.
  await sql`
    update version
    set host_node_extract_status = ${result.success ? success : 'failed'},
      extract_reason = ${result.success ? null : (result.reason ?? null)},
      extract_source = ${source},
      host_node_count = ${result.success ? result.nodes.size : null},
      host_node_partial = ${result.success ? (result.partial ?? false) : null},
      claimed_at = case
        when host_node_extract_status <> 'success' or not exists (
          select from unnest(${names}::text[]) as given (name) where not exists (
            select from host_node h where h.version_id = version.id and h.host_node_name = given.name))
          then claimed_at
        when status = 'NodeVersionStatusActive' then clock_timestamp()
      end,
      host_nodes_at =
        case when host_node_count is null then host_nodes_at else clock_timestamp() end,
      rev = rev + 1
    where id = ${versionId}
  `
  if (result.success) await replaceHostNodes(sql, versionId, result.nodes)
  await showHostNodes(sql, node.id, versionId)
  return 'done'
}

interface ExtractState {
  status: ExtractStatus
  source: HostNodeSource | null
  isRejected: boolean
}

const reject = (
  { status, source: earlier, isRejected }: ExtractState,
  { source, isHint, result }: HostNodePut,
): HostNodesPut | undefined => {
  if (isRejected && source !== 'derived') return 'archive_rejected'
  if (status === 'success') {
    const mayReplace =
      source === 'derived'
        ? earlier !== 'trusted'
        : !isHint && (earlier === 'reported' || earlier === source)
    return result.success && mayReplace ? undefined : 'already_registered'
  }
  return isHint && status === 'failed' && earlier === 'derived' ? 'registration_closed' : undefined
}

const insertReport = async (
  sql: Transaction,
  { versionId, source, by, result, buildInfo }: HostNodePut,
): Promise<void> => {
  await sql`
    insert into host_node_report (version_id, success, reason, build_info, trusted, reported_by)
    values (${versionId}, ${result.success}, ${result.success ? null : (result.reason ?? null)},
      ${buildInfo ? sql.json(buildInfo) : null}, ${source === 'trusted'},
      ${by ?? null})
  `
}

/** Makes what a stranger has reported count as read, for a member who has seen it at this revision (If-Match). */
export const confirmHostNodes = async (
  sql: Transaction,
  { versionId, by, ifRev }: { versionId: string; by: string; ifRev?: number | undefined },
): Promise<'confirmed' | 'nothing_to_confirm' | 'precondition_failed'> => {
  const node = await lockNodeOfVersion(sql, versionId)
  const [seen] = await sql`
    select from version where id = ${versionId} and rev = coalesce(${ifRev ?? null}::bigint, rev)
    for no key update
  `
  if (!seen) return 'precondition_failed'
  const [version] = await sql`
    with confirmed as (
      update version set host_node_extract_status = 'success', rev = rev + 1
      where id = ${versionId} and status <> 'NodeVersionStatusDeleted'
        and host_node_extract_status = 'reported'
      returning id
    )
    insert into host_node_report (version_id, success, trusted, reported_by)
    select id, true, false, ${by} from confirmed
    returning id
  `
  if (!node || !version) return 'nothing_to_confirm'
  await showHostNodes(sql, node.id, versionId)
  return 'confirmed'
}

/** Has lists and searches read the host nodes of a version, where it is the latest. */
const showHostNodes = async (
  sql: Transaction,
  nodeId: string,
  versionId: string,
): Promise<void> => {
  await updateLatestVersion(sql, nodeId)
  if (await isLatest(sql, nodeId, versionId)) await updateCurrentHostNodes(sql, nodeId)
  await recordListChange(sql)
}

/** Rows of one statement: 5,000 host nodes with ten values each would pass the 65,534 parameters of one. */
const BATCH = 1_000

const replaceHostNodes = async (
  sql: Transaction,
  versionId: string,
  nodes: ReadonlyMap<string, HostNodeFields>,
): Promise<void> => {
  await sql`delete from host_node where version_id = ${versionId}`
  const rows = [...nodes].map(([host_node_name, fields]) => ({ ...fields, host_node_name }))
  for (let start = 0; start < rows.length; start += BATCH) {
    const batch = sql.json(rows.slice(start, start + BATCH))
    await sql`
      insert into host_node (version_id, host_node_name, display_name, category, description, function, deprecated,
        experimental, output_node, input_types, return_types, return_names, output_is_list, dynamic)
      select ${versionId}::uuid, host_node_name, display_name, category, description, function, deprecated,
        experimental, output_node, input_types, return_types, return_names, output_is_list,
        coalesce(dynamic, '{}')
      from json_to_recordset(${batch}::json) as given (
        host_node_name text, display_name text, category text, description text, function text, deprecated boolean,
        experimental boolean, output_node boolean, input_types text, return_types text, return_names text,
        output_is_list boolean[], dynamic text[])
    `
  }
}

const isLatest = async (sql: Transaction, nodeId: string, versionId: string): Promise<boolean> => {
  const [row] = await sql`
    select from node where id = ${nodeId} and latest_version_id = ${versionId}
  `
  return row !== undefined
}

/** Builds JSON from `host_node h` and what `joinPolicy` joins. */
export const hostNodeJson = (sql: Queryable) => sql`
  json_strip_nulls(json_build_object(
    'host_node_name', h.host_node_name, 'display_name', h.display_name, 'category', h.category, 'description', h.description,
    'function', h.function, 'deprecated', h.deprecated, 'experimental', h.experimental,
    'output_node', h.output_node, 'input_types', h.input_types, 'return_types', h.return_types, 'return_names', h.return_names,
    'output_is_list', h.output_is_list, 'dynamic', h.dynamic, 'policy', ${policyOf(sql)},
    'policy_reason', y.reason))
`

export const findHostNode = async (
  sql: Queryable,
  { versionId, name }: { versionId: string; name: string },
): Promise<HostNodeWithExamples | undefined> => {
  const [row] = await sql<{ hostNode: HostNodeWithExamples; examples: string[] }[]>`
    select ${hostNodeJson(sql)} as "hostNode", array(
      select example ->> 'path' from (${examplesOf(sql)}) e,
        jsonb_array_elements(e.examples) example
      where ${usesHostNode(sql, name)} order by 1) as examples
    from host_node h
    join version v on v.id = h.version_id and v.host_node_extract_status in ('success', 'reported')
    ${joinPolicy(sql)}
    where h.version_id = ${versionId} and h.host_node_name = ${name}
  `
  if (!row) return undefined
  const { hostNode, examples } = row
  return examples.length > 0 ? { ...hostNode, example_workflows: examples } : hostNode
}

/** Most of the other nodes that a response names. */
const OTHERS = 100

/**
 * Finds the node that a host node belongs to, and the ids of the others that have the name. Candidates are the listed
 * nodes that have the name in their latest version and no ban of it, by preemption, search_ranking, how long an active
 * version of theirs has claimed the name, and id. Install counts do not decide: anybody can raise them.
 */
export const findNodeOfHostNode = async (
  sql: Queryable,
  name: string,
  options: RecordOptions,
): Promise<NodeOfHostNode | undefined> => {
  const rows = await sql<{ id: string }[]>`
    select id from (${claimsOf(sql, sql`${name}::text`, 1 + OTHERS)}) claim
  `
  const [owner, ...others] = rows.map(({ id }) => id)
  if (owner === undefined) return undefined
  return { ...(await getNode(sql, owner, options)), other_node_ids: others }
}

/** The nodes that claim a name, the best claim first, as `id`, `preempts`, `ranking`, `downloads` and `since`. */
export const claimsOf = (sql: Queryable, name: Fragment, limit: number) => sql`
    select s.node_id as id, claim.preempts, s.search_ranking as ranking,
      s.downloads::float8 as downloads, oldest.since
    from (
      select n.id, n.preempted_host_node_names @> array[${name}] as preempts
      from current_host_node c join node n on n.id = c.node_id
      where c.name = ${name}
    ) claim
    -- With their own offset and limit they stay look-ups for each; the planner would read the tables for the hundreds
    -- it guesses.
    cross join lateral (
      select * from node_stats where node_id = claim.id and listed offset 0
    ) s
    left join lateral (
      select coalesce(v.claimed_at, v.created_at) as since from version v
      where v.node_id = claim.id and v.status = 'NodeVersionStatusActive'
        and v.host_node_extract_status = 'success' and exists (
          select from host_node h where h.version_id = v.id and h.host_node_name = ${name})
      order by since limit 1
    ) oldest on true
    order by claim.preempts desc, s.search_ranking, oldest.since, s.node_id
    limit ${limit}
`

/** An example that is a workflow. */
export type StoredExample = ExampleWorkflow & { form: 'editor' | 'api' }

/** The newest reading of the archive of `version v`, as `examples`. */
const examplesOf = (sql: Queryable) => sql`
  select e.examples from extraction e
  join archive a on a.version_id = e.version_id and a.sha256 = e.sha256
  where e.version_id = v.id
  order by e.extractor_version desc limit 1
`

/** Example workflows of a version, of those alone that use a host node where it is given, by path. */
export const listExampleWorkflows = async (
  sql: Queryable,
  { versionId, hostNode }: { versionId: string; hostNode?: string | undefined },
): Promise<StoredExample[]> => {
  const rows = await sql<{ example: StoredExample }[]>`
    select example from version v
    cross join lateral (${examplesOf(sql)}) e
    cross join lateral jsonb_array_elements(e.examples) example
    where v.id = ${versionId} and example ->> 'form' <> 'none'
      and ${usesHostNode(sql, hostNode ?? null)}
    order by (example ->> 'path') collate "C"
  `
  return rows.map(({ example }) => example)
}

/** True of an `example` that uses a host node; of any without a name. */
const usesHostNode = (sql: Queryable, name: string | null) => sql`(${name}::text is null
  or example -> 'host_nodes' @> jsonb_build_array(jsonb_build_object('name', ${name}::text)))`
