import { isGrpcServiceError } from '@temporalio/client'

/** Status codes of gRPC: https://grpc.io/docs/guides/status-codes/ */
export const GRPC = {
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  UNIMPLEMENTED: 12,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
} as const

/** Words of a worker's native connection in place of a code. */
const NATIVE_CODES: Record<string, number> = {
  'Some requested entity was not found': GRPC.NOT_FOUND,
  'The caller does not have permission to execute the specified operation': GRPC.PERMISSION_DENIED,
  'The request does not have valid authentication credentials': GRPC.UNAUTHENTICATED,
}

const readNative = (error: unknown): { code: number; details: string } | undefined => {
  const [, words = '', details = ''] =
    /code: '([^']*)', message: "([^"]*)"/.exec(error instanceof Error ? error.message : '') ?? []
  const code = NATIVE_CODES[words]
  return code === undefined ? undefined : { code, details }
}

/** The error that Temporal's server sent, which may lie below others; undefined when it sent none. */
export const findGrpcError = (error: unknown): { code: number; details: string } | undefined => {
  // The connection of a worker has the words in its message alone.
  if (isGrpcServiceError(error))
    return { code: error.code, details: error.details || error.message }
  const native = readNative(error)
  if (native) return native
  return error instanceof Error && error.cause !== undefined
    ? findGrpcError(error.cause)
    : undefined
}

/** True when Temporal's server sent an error of one of these codes. */
export const hasGrpcCode = (error: unknown, ...codes: readonly (keyof typeof GRPC)[]): boolean => {
  const code = findGrpcError(error)?.code
  return codes.some((name) => GRPC[name] === code)
}
