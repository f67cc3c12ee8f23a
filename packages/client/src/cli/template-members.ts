import type { Template } from '../index.ts'

interface MemberRule {
  type?: string
  anyOf?: MemberRule[]
  enum?: string[]
  minimum?: number
  maximum?: number
  default?: unknown
}

const describeRule = (rule: MemberRule, isRequired: boolean): string => {
  const { type = rule.anyOf?.map((one) => one.type).join(' or '), enum: choices } = rule
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
      describeRule(rule, required.includes(name)),
    ]),
  )
}
