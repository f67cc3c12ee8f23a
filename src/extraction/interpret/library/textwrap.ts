import { textOf } from '../values/payload.ts'
import { argumentOf } from '../operate/arguments.ts'
import { nativeModule } from '../values/native.ts'
import { dedent, indent } from '../text/docstring.ts'
import type { ModuleValue } from '../values/value.ts'
import { functionsOf } from './support/names.ts'

/** `textwrap`: margins. Wrapping is unknown. */
export const makeTextwrap = (): ModuleValue =>
  nativeModule(
    'textwrap',
    functionsOf('textwrap', {
      dedent: (_rt, [text]) => {
        const known = textOf(text)
        return known === undefined ? undefined : dedent(known)
      },
      indent: (rt, args, kwargs) => {
        const text = textOf(argumentOf(args, kwargs, 0, 'text'))
        const prefix = textOf(argumentOf(args, kwargs, 1, 'prefix'))
        // A test of lines of the pack's own is not asked.
        if (text === undefined || prefix === undefined || args.length > 2) return undefined
        const indented = indent(text, prefix)
        return rt.budget.allowString(indented.length) ? indented : undefined
      },
    }),
  )
