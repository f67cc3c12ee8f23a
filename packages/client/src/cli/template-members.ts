import type { Template } from '../index.ts'

interface MemberRule {
  type?: string
  anyOf?: MemberRule[]
  enum?: string[]
  minimum?: number
  maximum?: number
  default?: unknown
  items?: MemberRule
  pattern?: string
}

/** Bounds of what counts, where any number is taken. */
const COUNTED: Readonly<Record<string, Pick<MemberRule, 'minimum' | 'maximum'>>> = {
  kiln_priority: { minimum: -3, maximum: 3 },
}

interface Body {
  properties?: Record<string, MemberRule>
  required?: string[]
}

/** Finds the medium of a member that is a file: the pattern of a picture takes a data: URI, and that of a video links alone. */
const mediumOf = (name: string, { pattern = '' }: MemberRule): 'picture' | 'video' | undefined => {
  if (pattern.includes('[dD][aA][tT][aA]')) return 'picture'
  return pattern.includes('[hH][tT][tT][pP]') && !isGeneral(name) ? 'video' : undefined
}

const describeRule = (name: string, rule: MemberRule, isRequired: boolean): string => {
  if (rule.items) return `list of ${describeRule(name, rule.items, isRequired)}`
  const { enum: choices, minimum, maximum, default: preset } = rule
  const type = mediumOf(name, rule) ?? rule.type ?? rule.anyOf?.map((one) => one.type).join(' or ')
  const range = minimum === undefined ? '' : ` ${minimum} to ${maximum ?? 'any'}`
  const wanted = isRequired ? ', required' : ''
  const unless = preset === undefined ? wanted : `, ${JSON.stringify(preset)} unless given`
  return `${choices?.join('|') ?? `${type}${range}`}${unless}`
}

/** The rule of each member that a template takes, in words. */
export const describeMembers = (template: Template): Record<string, string> => {
  const { properties = {}, required = [] } = template.body as Body
  return Object.fromEntries(
    Object.entries(properties).map(([name, rule]) => [
      name,
      describeRule(name, { ...rule, ...COUNTED[name] }, required.includes(name)),
    ]),
  )
}

/** True of a member that every template has. */
const isGeneral = (name: string): boolean => name === 'webhook_url' || name.startsWith('kiln_')

/** Lists the members of a template, a line each: its own, or those that every template has. */
export const listMembers = (template: Template, which: 'own' | 'general'): string[] =>
  Object.entries(describeMembers(template))
    .filter(([name]) => isGeneral(name) === (which === 'general'))
    .map(([name, rule]) => `  ${name}  ${rule}`)

/** Lists the files without which a template cannot be run. */
export const listFiles = ({ body }: Template): string[] => {
  const { properties = {}, required = [] } = body as Body
  return required.filter((name) => {
    const rule = properties[name] ?? {}
    return mediumOf(name, rule.items ?? rule) !== undefined
  })
}

/** Lists the members that take a list. */
export const listLists = ({ body }: Template): string[] =>
  Object.entries((body as Body).properties ?? {}).flatMap(([name, { items }]) =>
    items ? name : [],
  )
