import { isUnknown } from '../values/read-value.ts'
import { formatValue } from '../operate/text-of.ts'
import { convert } from '../evaluate/display.ts'
import type { Kwargs, Runtime, Value } from '../types.ts'
import { formatTemplate } from '../text/format/template.ts'

const known = (value: Value | undefined): Value | undefined =>
  value === undefined || isUnknown(value) ? undefined : value

/** `text.format(*args, **named)`; undefined if a part can't be known. */
export function formatMethod(
  rt: Runtime,
  text: string,
  args: readonly Value[],
  named: Kwargs,
): string | undefined {
  return formatTemplate<Value>(text, {
    positional: (index) => known(args[index]),
    named: (name) => known(named.get(name)),
    convert: (value, conversion) => convert(rt, value, conversion),
    format: (value, spec) => formatValue(rt, value, spec),
  })
}
