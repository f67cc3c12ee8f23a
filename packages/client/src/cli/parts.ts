import { readPairs, take, text } from './context.ts'
import type { Command, Context } from './context.ts'
import { EXIT, UsageError } from './error.ts'

/** Items that are listed unless more are asked for. */
export const LISTED = 20

/** A part of a command: the arguments that it takes, in words, and what it prints, which is JSON unless it has lines. */
export type Part = {
  takes: readonly string[]
  run(context: Context, ...given: string[]): Promise<object>
  toLines?(value: never): string[]
}

/** Runs the part that the first argument names, or without an argument that without a name. */
export const runParts =
  (parts: Record<string, Part>): Command['run'] =>
  async (context) => {
    const [name = '', ...positionals] = context.positionals
    const part = parts[name]
    if (!part) {
      const names = Object.keys(parts).filter((one) => one !== '')
      throw new UsageError(`expected ${names.join(', ')}, got ${name || 'nothing'}`)
    }
    const given = take({ ...context, positionals }, ...part.takes)
    const value = await part.run(context, ...given)
    const lines = part.toLines?.(value as never) ?? [JSON.stringify(value, undefined, 2)]
    context.screen.print(lines.length > 0 ? lines : ['none'], value)
    return EXIT.done
  }

/** `[delete <task id>|…]` */
export const describeParts = (parts: Record<string, Part>): string =>
  `[${Object.entries(parts)
    .filter(([name]) => name !== '')
    .map(([name, { takes }]) => [name, ...takes.map((what) => `<${what}>`)].join(' '))
    .join('|')}]`

/** The values of an option that is repeated, or separated by commas; undefined where it is absent. */
export const readList = ({ values }: Context, name: string): string[] | undefined => {
  const given = [values[name] ?? []].flat().flatMap((value) => String(value).split(','))
  return given.length > 0 ? given : undefined
}

export const readNumber = ({ values }: Context, name: string): number | undefined => {
  const value = text(values, name)
  if (value === undefined) return undefined
  if (/^\d+$/.test(value)) return Number(value)
  throw new UsageError(`--${name} must be a whole number, got ${value}`)
}

/** Labels as filters have them; undefined where there is none. */
export const readLabels = ({ values }: Context): string[] | undefined => {
  const labels = readPairs(values, 'label').map(([name, value]) => `${name}:${value}`)
  return labels.length > 0 ? labels : undefined
}

/** The members that have a value. What is none of its words the service rejects, and lists them. */
export const defined = <T = Record<string, unknown>>(members: {
  [Name in keyof NoInfer<T>]?: unknown
}): T => Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T

export const readAll = async <T>(list: AsyncIterable<T>): Promise<T[]> => {
  const items: T[] = []
  for await (const item of list) items.push(item)
  return items
}
