import { shown } from '../../platform/domain/errors.ts'
import {
  PUBLISHER_ID_EXPECTATION,
  PUBLISHER_ID_MAX,
  PUBLISHER_ID_PATTERN,
  PUBLISHER_URLS,
  RESERVED_PUBLISHER_IDS,
} from './publisher.ts'
import { validateRegistryUrls } from './registry-url.ts'
import { makeIssue, type Issue } from '../../platform/domain/validate.ts'

/** The rules of both bodies of a publisher that their schemas cannot say. */
export const validatePublisher = (body: Readonly<Record<string, unknown>>): Issue[] =>
  validateRegistryUrls(body, PUBLISHER_URLS)

/**
 * Says what is wrong with a new publisher's id, as the end of a sentence; undefined when its form is right. Whether it
 * is taken is for the database to say.
 */
const publisherIdIssue = (id: string): string | undefined => {
  if (id.length > PUBLISHER_ID_MAX || !FORM.test(id)) return `must be ${PUBLISHER_ID_EXPECTATION}`
  return RESERVED.has(id) ? 'must not be a reserved word' : undefined
}

/** The rules of the query of GET /publishers/validate. Whether the id is taken is for the database to say. */
export const validatePublisherIdQuery = ({
  username,
}: Readonly<Record<string, unknown>>): Issue[] => {
  if (typeof username !== 'string') return []
  const sentence = publisherIdIssue(username)
  if (sentence === undefined) return []
  const full = `${sentence}, got ${shown(username)}`
  return [makeIssue('?username', full, 'publisher_id_unavailable')]
}

/** The key by which a publisher or a node is found: ids match without regard to case. */
export const idKey = (id: string): string => id.toLowerCase()

const FORM = new RegExp(PUBLISHER_ID_PATTERN)
const RESERVED: ReadonlySet<string> = new Set(RESERVED_PUBLISHER_IDS)
