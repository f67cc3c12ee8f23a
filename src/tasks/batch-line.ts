import { Readable } from 'node:stream'

import { BatchRequest } from '../domain/bulk/batch.ts'
import { shown } from '../domain/shared/errors.ts'
import { isObject } from '../domain/shared/is-object.ts'
import { listUnread, unreadIssues } from '../domain/shared/unread.ts'
import { makeIssue } from '../domain/shared/validate.ts'
import { validationError } from '../domain/shared/validation-error.ts'
import type { BodyLimits } from '../json-body/body-limits.ts'
import type { Budget } from '../json-body/budget.ts'
import { readJsonBody } from '../json-body/read-json-body.ts'

export interface LineDeps {
  budget: Budget
  scratchDir: string
  maxImageBytes: number
  maxImagePixels: number
}

/** Limits of a line: images stay text until its path is known. */
const LIMITS: BodyLimits = { maxBytes: 2 ** 21, heldBytes: 2 ** 21, deadlineMs: 60_000 }

/** Reads a line of a batch as strictly as a body of HTTP. Throws 400. */
export const readLine = async (
  { maxImagePixels: maxPixels, ...deps }: LineDeps,
  bytes: Buffer,
): Promise<{ path: string; body: Record<string, unknown> }> => {
  const headers = { 'content-type': 'application/json', 'content-length': String(bytes.length) }
  const source = Object.assign(Readable.from([bytes], { objectMode: false }), { headers })
  const { value } = await readJsonBody(source, { ...LIMITS, ...deps, maxPixels, address: 'batch' })
  const { path, body, ...others } = value
  const unread = unreadIssues(listUnread(BatchRequest, others, true), true)
  if (typeof path === 'string' && isObject(body) && unread.length === 0) return { path, body }
  const issues = [
    ...unread,
    ...(typeof path === 'string'
      ? []
      : [makeIssue('/path', `must be a string, got ${shown(path)}`)]),
    ...(isObject(body) ? [] : [makeIssue('/body', `must be an object, got ${shown(body)}`)]),
  ]
  throw validationError(issues, { query: {}, body: value }) ?? new Error('no issue')
}
