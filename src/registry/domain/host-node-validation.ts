import { shown } from '../../platform/domain/errors.ts'
import { HOST_NODE_NAME_MAX, JSON_TEXT_MAX_BYTES, JSON_TEXT_MEMBERS } from './host-node.ts'
import type { HostNodeRegistration, RegisteredHostNode } from './host-node.ts'
import { toPointer } from '../../platform/domain/pointer.ts'
import { isLonger } from '../../platform/domain/text-length.ts'
import { makeIssue, type Issue } from '../../platform/domain/validate.ts'

type Body = Readonly<Record<string, unknown>>

/**
 * True when a registration reports a success. `success` decides when it is given; otherwise the status `failed` is a
 * failure.
 */
export const isSuccess = ({
  success,
  status,
}: Pick<HostNodeRegistration, 'success' | 'status'>): boolean =>
  success ?? status?.toLowerCase() !== 'failed'

/** The JSON text of a member such as `input_types`: a string is that text already, any other value is serialised. */
const jsonTextOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : JSON.stringify(value)

/** A registered host node as it is stored. Flags default to false and lists to empty; JSON values become texts. */
export const toHostNodeRow = ({
  deprecated = false,
  experimental = false,
  output_is_list = [],
  input_types,
  return_types,
  return_names,
  ...texts
}: RegisteredHostNode) => ({
  ...texts,
  deprecated,
  experimental,
  output_is_list,
  input_types: jsonTextOf(input_types),
  return_types: jsonTextOf(return_types),
  return_names: jsonTextOf(return_names),
})

/** The rules of a registration that its schema cannot say. */
export const validateRegistration = (body: Body): Issue[] => {
  const { nodes } = body
  if (nodes === undefined) return validateAbsence(body)
  if (typeof nodes !== 'object' || nodes === null || Array.isArray(nodes)) return []
  return Object.entries(nodes).flatMap(([name, node]: [string, unknown]) => [
    ...validateName(name),
    ...validateJsonTexts(name, node),
  ])
}

const validateAbsence = ({ success, status }: Body): Issue[] =>
  isSuccess({
    ...(typeof success === 'boolean' && { success }),
    ...(typeof status === 'string' && { status }),
  })
    ? [makeIssue('/nodes', 'must be given for a success, but is absent')]
    : []

const validateName = (name: string): Issue[] => {
  if (name !== '' && !isLonger(name, HOST_NODE_NAME_MAX)) return []
  const rule = `must have names of 1 to ${HOST_NODE_NAME_MAX} characters`
  return [makeIssue('/nodes', `${rule}, got ${shown(name)}`)]
}

const validateJsonTexts = (name: string, node: unknown): Issue[] =>
  JSON_TEXT_MEMBERS.flatMap((member) => {
    const text = jsonTextOf((node as Body | null)?.[member])
    if (text === undefined || !isOverBytes(text)) return []
    const rule = `must be at most ${JSON_TEXT_MAX_BYTES} bytes of JSON text`
    return [makeIssue(toPointer(['nodes', name, member]), `${rule}, got ${shown(text)}`)]
  })

/** UTF-8 has at most three bytes for a code unit, so that most texts need not be encoded. */
const isOverBytes = (text: string): boolean =>
  text.length * 3 > JSON_TEXT_MAX_BYTES &&
  new TextEncoder().encode(text).length > JSON_TEXT_MAX_BYTES
