import { isGrpcServiceError } from '@temporalio/client'
import type { Connection } from '@temporalio/client'

/** Operators find a job by these. All are Keyword; SQL visibility allows ten in a namespace. */
const SEARCH_ATTRIBUTES = [
  'KilnOwner',
  'KilnKind',
  'KilnStatus',
  'KilnPublisher',
  'KilnNode',
  'KilnVersion',
] as const

const KEYWORD = 2
const ALREADY_EXISTS = 6

/** Those that the namespace does not have. */
export const listMissingSearchAttributes = async (
  connection: Connection,
  namespace: string,
): Promise<string[]> => {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace })
  return SEARCH_ATTRIBUTES.filter((name) => !(name in customAttributes))
}

/** Registers the search attributes and returns the new ones. An attribute must exist before the first start that uses it. */
export const registerSearchAttributes = async (
  connection: Connection,
  namespace: string,
): Promise<string[]> => {
  const missing = await listMissingSearchAttributes(connection, namespace)
  if (missing.length === 0) return []
  try {
    await connection.operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(missing.map((name) => [name, KEYWORD])),
    })
  } catch (error) {
    // Two migrations ran at once, and the other one was first.
    if (!isGrpcServiceError(error) || (error.code as number) !== ALREADY_EXISTS) throw error
  }
  return missing
}
