import { HOST_NODE_NAME_MAX } from '../domain/host-node.ts'
import { isLonger } from '../../platform/domain/text-length.ts'
import type { Extraction } from '../domain/finding.ts'
import type { ExtractStatus } from '../domain/version.ts'
import type {
  ExampleWorkflow,
  ExtractedNode,
  NodesSection,
  WorkflowName,
} from '../../../packages/inspector/src/inspection.ts'
import type { Queryable, Transaction } from '../../platform/db/client.ts'
import { putHostNodes } from './host-node.ts'
import { lockNodeOfVersion } from './registry-lock.ts'
import { toStorable } from '../../platform/db/storable-text.ts'

/** Whose bytes were read, and by which extractor. */
interface ExtractionKey {
  versionId: string
  /** Lower-case hex. */
  sha256: string
  extractorVersion: number
}

/** Stores what a reading found; nobody sees it before `finishExtraction`. A repetition changes nothing. */
export const putExtraction = async (
  sql: Transaction,
  { versionId, sha256 }: Omit<ExtractionKey, 'extractorVersion'>,
  section: NodesSection,
): Promise<void> => {
  const nodes = section.nodes.filter(({ name }) => isStorable(name))
  const dropped = section.dropped + section.nodes.length - nodes.length
  await sql`
    insert into extraction (version_id, sha256, extractor_version, status, reason, how, partial, reasons,
      dropped, node_count, nodes, examples, workflow_names, stats)
    values (${versionId}, ${sha256}, ${section.extractorVersion}, ${section.status},
      ${section.reason ?? null}, ${section.how}, ${section.partial}, ${section.reasons}, ${dropped},
      ${nodes.length}, ${sql.json(nodes.map(toRow) as never)},
      ${sql.json((section.examples ?? []).map(toStorableExample) as never)},
      ${sql.json((section.workflow_names ?? []).filter(isStorableName) as never)}, ${sql.json(section.stats)})
    on conflict do nothing
  `
}

/** PostgreSQL cannot store NUL, and the registry limits the length of names. */
const isStorable = (name: string): boolean =>
  name !== '' && name === toStorable(name) && !isLonger(name, HOST_NODE_NAME_MAX)

/** A name whose replacement cannot be stored is none. */
const isStorableName = ({ name, replaced_by: by }: WorkflowName): boolean =>
  isStorable(name) && (!by || (isStorable(by.host_node) && !hasNul(by)))

const hasNul = (value: object): boolean => JSON.stringify(value).includes('\\u0000')

/**
 * The texts come from the pack, so they may hold NUL. A name is kept exactly, or was dropped; a display name that is too
 * long is none.
 */
const toRow = ({ display_name: shown, ...node }: ExtractedNode): ExtractedNode => ({
  ...node,
  ...(shown && !isLonger(shown, HOST_NODE_NAME_MAX) && { display_name: toStorable(shown) }),
  category: toStorable(node.category),
  description: toStorable(node.description),
  function: toStorable(node.function),
  input_types: toStorable(node.input_types),
  return_types: toStorable(node.return_types),
  return_names: toStorable(node.return_names),
  dynamic: node.dynamic.map(toStorable),
})

const toStorableExample = (example: ExampleWorkflow): ExampleWorkflow => ({
  ...example,
  host_nodes: example.host_nodes.map(({ name, pack, ...rest }) => ({
    ...rest,
    name: toStorable(name),
    ...(pack !== undefined && { pack: toStorable(pack) }),
  })),
})

export const hasExtraction = async (
  sql: Queryable,
  { versionId, sha256, extractorVersion }: ExtractionKey,
): Promise<boolean> => {
  const [row] = await sql`
    select from extraction
    where version_id = ${versionId} and sha256 = ${sha256} and extractor_version = ${extractorVersion}
  `
  return row !== undefined
}

/** State of the host nodes of a version. */
interface FinishedExtraction {
  /** `missing`: no reading of its archive is stored, or there is none to be had. */
  result: 'settled' | 'missing'
  status: ExtractStatus
  nodeCount: number
}

/**
 * Gives a version the stored reading of its archive: host nodes, extract status and reason. A trusted report stays. The
 * reading of the newest extractor counts, because during an update the workers that read may be newer than the workers
 * that finish.
 */
export const finishExtraction = async (
  sql: Transaction,
  versionId: string,
): Promise<FinishedExtraction | undefined> => {
  await lockNodeOfVersion(sql, versionId)
  const [version] = await sql<{ status: ExtractStatus }[]>`
    select host_node_extract_status as status from version
    where id = ${versionId} and status <> 'NodeVersionStatusDeleted'
  `
  if (!version) return undefined
  const [found] = await sql<StoredExtraction[]>`
    select e.status, e.reason, e.partial, e.node_count as "nodeCount", e.nodes,
      e.workflow_names as "workflowNames"
    from extraction e join archive a on a.version_id = e.version_id and a.sha256 = e.sha256
    where e.version_id = ${versionId}
    order by e.extractor_version desc limit 1
  `
  if (!found) return { result: 'missing', status: version.status, nodeCount: 0 }
  const { nodes, workflowNames, ...read } = found
  if (nodes) {
    await putDerivedHostNodes(sql, versionId, { ...read, nodes })
    await putWorkflowNames(sql, versionId, workflowNames ?? [])
    await sql`
      update extraction set nodes = null, workflow_names = null where version_id = ${versionId}
    `
  }
  return { result: 'settled', status: found.status, nodeCount: found.nodeCount }
}

interface StoredExtraction {
  status: 'success' | 'failed'
  reason: string | null
  partial: boolean
  nodeCount: number
  /** Null once the extraction has finished. */
  nodes: ExtractedNode[] | null
  workflowNames: WorkflowName[] | null
}

const putWorkflowNames = async (
  sql: Transaction,
  versionId: string,
  names: readonly WorkflowName[],
): Promise<void> => {
  await sql`delete from workflow_name where version_id = ${versionId}`
  await sql`
    insert into workflow_name (version_id, name, replaced_by)
    select ${versionId}::uuid, name, replaced_by
    from json_to_recordset(${sql.json(names as never)}::json) as given (name text, replaced_by jsonb)
  `
}

/** Stores what a reading of the archive found as the host nodes of its version. */
export const putDerivedHostNodes = async (
  sql: Transaction,
  versionId: string,
  {
    status,
    reason,
    partial,
    nodes,
  }: Pick<NodesSection, 'status' | 'partial' | 'nodes'> & { reason?: string | null | undefined },
) =>
  await putHostNodes(sql, {
    versionId,
    source: 'derived',
    result:
      status === 'success'
        ? { success: true, partial, nodes: new Map(nodes.map(toField)) }
        : { success: false, reason: reason ?? undefined },
  })

const toField = ({ name, ...fields }: ExtractedNode) => [name, fields] as const

/** Ends the extraction of a version that could not be read in time, unless it has ended. */
export const failExtraction = async (
  sql: Transaction,
  { versionId, reason }: { versionId: string; reason: string },
): Promise<ExtractStatus> => {
  await putHostNodes(sql, { versionId, source: 'derived', result: { success: false, reason } })
  const [row] = await sql<{ status: ExtractStatus }[]>`
    select host_node_extract_status as status from version where id = ${versionId}
  `
  return row?.status ?? 'failed'
}

/** Deletes a stored failure, so that the archive is read again. */
export const forgetFailedExtraction = async (
  sql: Transaction,
  versionId: string,
): Promise<void> => {
  await sql`delete from extraction where version_id = ${versionId} and status = 'failed'`
}

/** Finds what members see of the reading of a version's host nodes. */
export const findExtraction = async (
  sql: Queryable,
  versionId: string,
): Promise<Extraction | undefined> => {
  const [row] = await sql<{ extraction: Extraction }[]>`
    select json_strip_nulls(json_build_object('status', v.host_node_extract_status,
      'reason', v.extract_reason, 'source', v.extract_source, 'partial', v.extract_source = 'derived' and coalesce((
        select e.partial from extraction e join archive a on a.sha256 = e.sha256
        where e.version_id = v.id and a.version_id = v.id
        order by e.extractor_version desc limit 1), false))) as extraction
    from version v where id = ${versionId}
  `
  return row && { ...row.extraction, partial: row.extraction.partial ?? false }
}
