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

/** The error that Temporal's server sent, which may lie below others; undefined when it sent none. */
export const findGrpcError = (error: unknown): { code: number; details: string } | undefined => {
  // The connection of a worker has the words in its message alone.
  if (isGrpcServiceError(error))
    return { code: error.code, details: error.details || error.message }
  return error instanceof Error && error.cause !== undefined
    ? findGrpcError(error.cause)
    : undefined
}

/** True when Temporal's server sent an error of one of these codes. */
export const hasGrpcCode = (error: unknown, ...codes: readonly (keyof typeof GRPC)[]): boolean => {
  const code = findGrpcError(error)?.code
  return codes.some((name) => GRPC[name] === code)
}
