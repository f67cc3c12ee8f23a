import { Type, type Static } from 'typebox'

import { parseObject } from '../../../platform/domain/is-object.ts'
import { makeValidator } from '../../../platform/domain/validate.ts'

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

const validate = makeValidator(Type.Object({ limits: Type.Optional(Limits) }))

/** Reads the limits of a map; reports what they cannot be. */
export const readLimits = (
  map: string | undefined,
  { isCustom, report }: { isCustom: boolean; report(issue: string): void },
): Limits => {
  const parsed = parseObject(map ?? '{}') ?? {}
  const { value, issues } = validate(parsed)
  const { limits = {} } = value as { limits?: Limits }
  const known = { '': ['values', 'limits'], '/limits': Object.keys(Limits.properties) }
  for (const [pointer, names] of Object.entries(known))
    for (const name of Object.keys((pointer === '' ? parsed : parsed['limits']) ?? {}))
      if (!names.includes(name))
        report(`the map has ${pointer}/${name}; what it may have is ${names.join(', ')}`)
  for (const { message } of issues) report(`the map's ${message}`)
  if (limits.owners && !isCustom)
    report('the map has /limits/owners, which only a template in custom/ may have')
  return limits
}
