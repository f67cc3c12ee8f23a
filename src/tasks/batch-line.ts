import { Readable } from 'node:stream'

import { BatchRequest } from './domain/bulk/batch.ts'
import { listUnread, unreadIssues, type Unread } from '../platform/domain/unread.ts'
import { makeValidator } from '../platform/domain/validate.ts'
import type { BodyLimits } from '../platform/json-body/body-limits.ts'
import type { Budget } from '../platform/json-body/budget.ts'
import { readJsonBody } from '../platform/json-body/read-json-body.ts'
import { requireValid } from '../platform/json-body/validate-body.ts'

export interface LineDeps {
  budget: Budget
  scratchDir: string
  maxImageBytes: number
  maxImagePixels: number
}

/** A line of a batch that could be read. */
export interface Line {
  /** The name that its caller gave it, also where the line is not valid. */
  customId: string | undefined
  /** Throws 400 with all that is wrong with the line, apart from its body, whose path has the rules. */
  requireRequest(): BatchRequest
}

/** Limits of a line: images stay text until its path is known. */
const LIMITS: BodyLimits = { maxBytes: 2 ** 21, memoryBytes: 2 ** 21, deadlineMs: 60_000 }

const validate = makeValidator(BatchRequest)

/** Reads a line of a batch as strictly as a body of HTTP. Throws 400. */
export const readLine = async (
  { maxImagePixels: maxPixels, ...deps }: LineDeps,
  bytes: Buffer,
): Promise<Line> => {
  const headers = { 'content-type': 'application/json', 'content-length': String(bytes.length) }
  const source = Object.assign(Readable.from([bytes], { objectMode: false }), { headers })
  const { value } = await readJsonBody(source, { ...LIMITS, ...deps, maxPixels, address: 'batch' })
  const { body, ...members } = value
  const valid = validate(value)
  const line = valid.value as BatchRequest
  const isNamed = !valid.issues.some(({ field }) => field === '/custom_id')
  return {
    customId: isNamed ? line.custom_id : undefined,
    requireRequest() {
      const found = listUnread(BatchRequest, members, true)
      const others = found.filter(isOther).map((one) => ({ ...one, ...OTHER_FORM }))
      const unread = found.filter((one) => !isOther(one))
      requireValid(
        {},
        {
          further: unreadIssues(others, true),
          body: { ...valid, unread, inline: new Map() },
          isStrict: () => true,
        },
      )
      return { ...line, body: body as BatchRequest['body'] }
    },
  }
}

/** True of a member that lines of another service's batches have. */
const isOther = ({ field }: Unread): boolean => ['/url', '/method'].includes(field)

const OTHER_FORM = { meant: undefined, reason: 'use path and body' }
