/** The messages of an error and its causes, the innermost last. */
export const describeCauses = (error: unknown): string => {
  const messages = listCauses(error).map(({ message, code, name }) => message || code || name)
  return [...new Set(messages)].join(': ')
}

interface Cause extends Error {
  code?: string
}

/** Lists an error and its causes, the innermost last. */
export const listCauses = (error: unknown): Cause[] => {
  // All addresses of a host were tried, and it has no message of its own.
  if (error instanceof AggregateError && error.message === '') return listCauses(error.errors[0])
  if (!(error instanceof Error)) return [new Error(String(error))]
  return [error, ...(error.cause === undefined ? [] : listCauses(error.cause))]
}
