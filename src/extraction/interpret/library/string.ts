import { textOf } from '../values/payload.ts'
import { isInstanceValue } from '../values/guards.ts'
import { getItem } from '../operate/item.ts'
import { contains } from '../operate/membership.ts'
import { strOf } from '../operate/text-of.ts'
import { makeEmptyDict } from '../values/make-value.ts'
import { nativeClass, nativeModule } from '../values/native.ts'
import type { Runtime } from '../runtime.ts'
import type { ClassValue, ModuleValue, NativeCall, Value } from '../values/value.ts'

const LOWER = 'abcdefghijklmnopqrstuvwxyz'
const DIGITS = '0123456789'
const PUNCTUATION = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'

/** `string`. */
export const makeString = (rt: Runtime): ModuleValue =>
  nativeModule('string', [
    ['ascii_lowercase', LOWER],
    ['ascii_uppercase', LOWER.toUpperCase()],
    ['ascii_letters', LOWER + LOWER.toUpperCase()],
    ['digits', DIGITS],
    ['hexdigits', `${DIGITS}abcdefABCDEF`],
    ['punctuation', PUNCTUATION],
    ['Template', makeTemplate(rt)],
  ])

/** `$name`, `${name}`, `$$`. */
const makeTemplate = (rt: Runtime): ClassValue =>
  nativeClass(rt, {
    name: 'Template',
    module: 'string',
    methods: {
      __init__: (_rt, [self, template]) => {
        if (!isInstanceValue(self) || template === undefined) return undefined
        self.attributes.set('template', template)
        return null
      },
      substitute: substituting(false),
      safe_substitute: substituting(true),
    },
  })

const PLACEHOLDER = /\$(?:(\$)|([_a-z][_a-z0-9]*)|\{([_a-z][_a-z0-9]*)\})/gi

const substituting =
  (safe: boolean): NativeCall =>
  (rt, [self, mapping = makeEmptyDict()], kwargs) => {
    const template = isInstanceValue(self) ? textOf(self.attributes.get('template')) : undefined
    if (template === undefined) return undefined
    let isKnown = true
    const text = template.replaceAll(
      PLACEHOLDER,
      (whole, dollar?: string, name?: string, braced?: string) => {
        if (dollar !== undefined) return dollar
        const value = findValue(rt, mapping, kwargs, name ?? braced ?? '')
        const found = value === undefined ? undefined : strOf(rt, value)
        isKnown &&= found !== undefined || (value === undefined && safe)
        return found ?? whole
      },
    )
    return isKnown && rt.budget.allowString(text.length) ? text : undefined
  }

const findValue = (
  rt: Runtime,
  mapping: Value,
  kwargs: ReadonlyMap<string, Value>,
  name: string,
): Value | undefined => {
  const own = kwargs.get(name)
  if (own !== undefined) return own
  return contains(rt, mapping, name) === true ? getItem(rt, mapping, name) : undefined
}
