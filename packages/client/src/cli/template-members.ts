import type { Template } from '../index.ts'

interface MemberRule {
  type?: string
  anyOf?: MemberRule[]
  enum?: string[]
  minimum?: number
  maximum?: number
  default?: unknown
  items?: MemberRule
}

/** Bounds of what counts, where any number is taken. */
const COUNTED: Readonly<Record<string, Pick<MemberRule, 'minimum' | 'maximum'>>> = {
  kiln_priority: { minimum: -3, maximum: 3 },
}

const describeRule = (rule: MemberRule, isRequired: boolean): string => {
  const { type = rule.anyOf?.map((one) => one.type).join(' or '), enum: choices } = rule
  if (rule.items) return `list of ${describeRule(rule.items, isRequired)}`
  const { minimum, maximum, default: preset } = rule
  const range = minimum === undefined ? '' : ` ${minimum} to ${maximum ?? 'any'}`
  const wanted = isRequired ? ', required' : ''
  const unless = preset === undefined ? wanted : `, ${JSON.stringify(preset)} unless given`
  return `${choices?.join('|') ?? `${type}${range}`}${unless}`
}

/** The rule of each member that a template takes, in words. */
export const describeMembers = ({ body }: Template): Record<string, string> => {
  const { properties = {}, required = [] } = body as {
    properties?: Record<string, MemberRule>
    required?: string[]
  }
  return Object.fromEntries(
    Object.entries(properties).map(([name, rule]) => [
      name,
      describeRule({ ...rule, ...COUNTED[name] }, required.includes(name)),
    ]),
  )
}
