import { Type, type Static } from 'typebox'

import { parseObject } from '../../../platform/domain/is-object.ts'
import { makeValidator } from '../../../platform/domain/validate.ts'
import { FieldRule, type FieldRules } from './field-rules.ts'

/** Limits of the tasks of a template, as the map beside its file has them. */
const Limits = Type.Object({
  /** Time from the first attempt until a task fails, where the service's own deadline is later. */
  deadline_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400 })),
  /** Tasks that instances have at once. */
  at_once: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
  /** The only owners who may make tasks. */
  owners: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { minItems: 1, maxItems: 1000 }),
  ),
})
export type Limits = Static<typeof Limits>

const Rules = Type.Object({
  limits: Type.Optional(Limits),
  // Each rule is validated by itself.
  fields: Type.Optional(Type.Object({}, { additionalProperties: true })),
})

/** Reads the limits of a map, and its rules of fields; reports what they cannot be. */
export const readRules = (
  map: string | undefined,
  { isCustom, report }: { isCustom: boolean; report(issue: string): void },
): { limits: Limits; fields: FieldRules } => {
  const parsed = parseObject(map ?? '{}') ?? {}
  const { value, issues } = validate(parsed)
  const { limits = {} } = value as Static<typeof Rules>
  reportUnknown({ '': parsed }, ['values', 'limits', 'fields'], report)
  reportUnknown({ '/limits': parsed['limits'] }, Object.keys(Limits.properties), report)
  const rules = Object.entries(parsed['fields'] ?? {})
  for (const [name, rule] of rules)
    reportUnknown({ [`/fields/${name}`]: rule }, Object.keys(FieldRule.properties), report)
  const fields: Record<string, FieldRule> = {}
  for (const [name, rule] of rules) {
    const validated = validateRule(rule)
    fields[name] = validated.value as FieldRule
    for (const { message } of validated.issues) report(`the map's /fields/${name}${message}`)
  }
  for (const { message } of issues) report(`the map's ${message}`)
  const own = [
    ...(limits.owners ? ['/limits/owners'] : []),
    ...(rules.length > 0 ? ['/fields'] : []),
  ]
  if (!isCustom)
    for (const pointer of own)
      report(`the map has ${pointer}, which only a template in custom/ may have`)
  return { limits, fields }
}

const validate = makeValidator(Rules)
const validateRule = makeValidator(FieldRule)

const reportUnknown = (
  given: Readonly<Record<string, unknown>>,
  names: readonly string[],
  report: (issue: string) => void,
): void => {
  for (const [pointer, members] of Object.entries(given))
    for (const name of Object.keys(members ?? {}))
      if (!names.includes(name))
        report(`the map has ${pointer}/${name}; what it may have is ${names.join(', ')}`)
}
