import { distance } from 'fastest-levenshtein'

import { shown } from '../../platform/domain/errors.ts'
import { NODE_ID_EXPECTATION, NODE_ID_MAX, NODE_ID_PATTERN, NODE_URLS } from './node.ts'
import { idKey } from './publisher-validation.ts'
import { LONG_TEXT_MAX } from './registry-fields.ts'
import { validateRegistryUrls } from './registry-url.ts'
import { isLonger } from '../../platform/domain/text-length.ts'
import { makeIssue, type Issue } from '../../platform/domain/validate.ts'

type Body = Readonly<Record<string, unknown>>

/** The rules of POST /publishers/{p}/nodes that its schema cannot say. */
export const validateNewNode = (body: Body): Issue[] => validateFields(body, '')

/** The rules of PUT /publishers/{p}/nodes/{n} that its schema cannot say. */
export const validateNodeUpdate = (body: Body, { nodeId }: { nodeId: string }): Issue[] => [
  ...validateSameId(body['id'], '/id', nodeId),
  ...validateFields(body, ''),
]

/** The rules of `node` in a publish body. The id in the path is validated too, because publishing may create the node. */
export const validatePublishedNode = (node: Body, { nodeId }: { nodeId: string }): Issue[] => [
  ...validatePathId(nodeId),
  ...validateSameId(node['id'], '/node/id', nodeId),
  ...validateFields(node, '/node'),
]

/** The rules of the id of a node that what the path names may create. */
export const validatePathId = (id: string): Issue[] => {
  if (id.length <= NODE_ID_MAX && FORM.test(id)) return []
  const rule = `the pack id in the path must be ${NODE_ID_EXPECTATION}`
  return [makeIssue('', `${rule}, got ${shown(id)}`)]
}

const FORM = new RegExp(NODE_ID_PATTERN)

const validateFields = (body: Body, at: string): Issue[] => [
  ...validateRegistryUrls(body, NODE_URLS, at),
  ...validateTranslations(body['translations'], `${at}/translations`),
]

/** Longest id in which two letters are half of a word. */
const SHORT_ID = 7

/** Finds the id that a new one was meant to be, most likely: one or two edits away, but not by a number alone. */
export const findMeantId = (id: string, others: readonly string[]): string | undefined => {
  const max = id.length > SHORT_ID ? 2 : 1
  return others.find(
    (other) =>
      distance(idKey(id), idKey(other)) <= max &&
      id.replaceAll(/\d+/g, '') !== other.replaceAll(/\d+/g, ''),
  )
}

/** An empty id says nothing. */
const validateSameId = (id: unknown, field: string, nodeId: string): Issue[] => {
  if (typeof id !== 'string' || id === '' || idKey(id) === idKey(nodeId)) return []
  const sentence = `must be the id in the path, ${shown(nodeId)}, got ${shown(id)}`
  return [makeIssue(field, sentence, 'id_mismatch')]
}

const validateTranslations = (translations: unknown, field: string): Issue[] =>
  typeof translations === 'object' && isLonger(JSON.stringify(translations), LONG_TEXT_MAX)
    ? [makeIssue(field, `must be at most ${LONG_TEXT_MAX} characters of JSON, got more`)]
    : []
