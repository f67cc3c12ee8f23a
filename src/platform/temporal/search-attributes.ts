import type { Connection } from '@temporalio/client'

import { hasGrpcCode } from './grpc-error.ts'

/** Operators find a job by these. All are Keyword; SQL visibility allows ten in a namespace. */
const SEARCH_ATTRIBUTES = [
  'KilnOwner',
  'KilnKind',
  'KilnStatus',
  'KilnReason',
  'KilnEngine',
  'KilnBatch',
  'KilnPublisher',
  'KilnNode',
  'KilnVersion',
] as const

const KEYWORD = 2

/** Lists the search attributes that the namespace does not have. */
export const listMissingSearchAttributes = async (
  connection: Connection,
  namespace: string,
): Promise<string[]> => {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace })
  return SEARCH_ATTRIBUTES.filter((name) => !(name in customAttributes))
}

/**
 * Registers the search attributes. Returns the new ones, and as `missing` all that this account may not add. An
 * attribute must exist before the first start that uses it; until then starts wait in the outbox.
 */
export const registerSearchAttributes = async (
  connection: Connection,
  namespace: string,
): Promise<{ added: string[]; missing: string[] }> => {
  let missing: string[] = [...SEARCH_ATTRIBUTES]
  try {
    missing = await listMissingSearchAttributes(connection, namespace)
    if (missing.length === 0) return { added: [], missing }
    await connection.operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(missing.map((name) => [name, KEYWORD])),
    })
  } catch (error) {
    if (hasGrpcCode(error, 'PERMISSION_DENIED', 'UNIMPLEMENTED')) return { added: [], missing }
    // Two migrations ran at once, and the other one was first.
    if (!hasGrpcCode(error, 'ALREADY_EXISTS')) throw error
  }
  return { added: missing, missing: [] }
}

/** Says what somebody does who may manage them. */
export const adviseSearchAttributes = (missing: readonly string[], namespace: string): string => {
  const flags = missing.map((name) => `--name ${name} --type Keyword`).join(' ')
  return `this account may not manage search attributes: have ${missing.join(', ')} added to the namespace ${namespace} where they are missing, with \`temporal operator search-attribute create -n ${namespace} ${flags}\`, in Temporal Cloud with \`tcld namespace search-attributes add -n ${namespace} ${missing.map((name) => `--sa "${name}=Keyword"`).join(' ')}\`. Tasks that are made before that wait, and none is lost`
}
