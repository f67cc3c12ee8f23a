import { ApiError } from './errors.ts'
import type { Issue } from './validate.ts'

/**
 * Makes the error of a request's issues, with their common code, or validation_failed when they differ. Undefined when
 * there are none. `given` is what the request holds; it shows whether a member is missing.
 */
export const validationError = (
  issues: readonly Issue[],
  given: { query: unknown; body: unknown },
): ApiError | undefined => {
  const [first] = issues
  if (!first) return undefined
  const code = issues.every((issue) => issue.code === first.code) ? first.code : 'validation_failed'
  const details = issues.map((issue) => issue.message)
  if (code !== 'validation_failed') return new ApiError(code, first.message, { details })
  const issue = { ...first, given: first.field.startsWith('?') ? given.query : given.body }
  return new ApiError(code, first.message, { details, issue })
}
