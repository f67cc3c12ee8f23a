import type { Asked } from '../lib/http.ts'
import { take, text } from './context.ts'
import type { Command, Context } from './context.ts'
import { EXIT, readNamed, UsageError } from './error.ts'

const METHODS = ['GET', 'POST', 'PUT', 'DELETE']

/** The body of a request: JSON, or `@` and the file that has it. */
const readBody = async (given: string | undefined): Promise<unknown> => {
  if (given === undefined) return undefined
  return parse(given.startsWith('@') ? (await readNamed(given.slice(1))).toString() : given, () => {
    throw new UsageError('--body must be JSON, or @ and a file of JSON')
  })
}

const parse = (content: string, orElse: () => unknown): unknown => {
  try {
    return JSON.parse(content) as unknown
  } catch {
    return orElse()
  }
}

const request = async (context: Context): Promise<number> => {
  const { kiln, screen, signal, values } = context
  const [given = '', path = ''] = take(context, 'method', 'path')
  const method = given.toUpperCase()
  if (!METHODS.includes(method))
    throw new UsageError(`expected ${METHODS.join(', ')}, got ${given}`)
  if (!path.startsWith('/')) throw new UsageError(`a path begins with a slash, got ${path}`)
  const body = await readBody(text(values, 'body'))
  // What belongs to the path, its caller says.
  const send = kiln.routes.request as (
    method: string,
    path: string,
    init: object,
  ) => Promise<Asked<string>>
  const init = { signal, parseAs: 'text', ...(body !== undefined && { body }) }
  const { data = '' } = await send(method.toLowerCase(), path, init)
  const value = parse(data, () => undefined)
  const lines = value === undefined ? [data] : [JSON.stringify(value, undefined, 2)]
  screen.print(lines, value ?? { text: data })
  return EXIT.done
}

export const REQUEST_COMMAND: Command = {
  usage: `${METHODS.join('|')} <path> [--body <JSON>|@<file>]`,
  summary: 'calls any route by its path, such as GET /users, and prints its response',
  help: ['--body  the JSON of the request, or @ and a file that has it'],
  options: { body: { type: 'string' } },
  run: request,
}
