import { KilnError } from '../index.ts'
import type { Kiln, Template } from '../index.ts'
import type { Context } from './context.ts'
import { UsageError } from './error.ts'
import { listFiles, listLists, listMembers } from './template-members.ts'

/** Lists the members of the template that the command line names; nothing where it names none. */
export const helpOfTemplate = async ({
  kiln,
  positionals: [name],
  signal,
}: Pick<Context, 'kiln' | 'positionals' | 'signal'>): Promise<string[]> => {
  if (name === undefined) return []
  const templates = await kiln.templates.list({ signal })
  const template = templates.find((one) => one.name === name)
  if (!template) throw absent(name, templates)
  return [`${name} takes`, ...listMembers(template, 'own'), ...listMembers(template, 'general')]
}

/** Reads the files of a run, `<member>=<path>` or the path of its image: several for a member that takes a list. */
export const readFiles = async (
  context: Pick<Context, 'kiln' | 'signal'>,
  name: string,
  given: readonly string[],
): Promise<Record<string, string | string[]>> => {
  const files = new Map<string, string[]>()
  for (const entry of given) {
    const [, member = 'image', path = entry] = /^([a-z]\w*)=(.*)$/s.exec(entry) ?? []
    files.set(member, [...(files.get(member) ?? []), path])
  }
  if (files.size === 0) return {}
  const lists = await findLists(context, name).catch((error: unknown): string[] => {
    // Making the task says what is wrong, but it must not be made of one file of several.
    if (files.size < given.length) throw error
    return []
  })
  const read = [...files].map(([member, [path = '', ...more]]) => {
    if (lists.includes(member)) return [member, [path, ...more]] as const
    if (more.length === 0) return [member, path] as const
    throw new UsageError(`${member} of ${name} takes one file, got ${more.length + 1}`)
  })
  return Object.fromEntries(read)
}

/** Finds the members of a template that take a list. */
const findLists = async (
  { kiln, signal }: Pick<Context, 'kiln' | 'signal'>,
  name: string,
): Promise<string[]> => {
  const templates = await kiln.templates.list({ signal })
  const template = templates.find((one) => one.name === name)
  if (!template) throw absent(name, templates)
  return listLists(template)
}

/** Says of an error of a run what to type in place of it: of a template that is not there, or of files that are not given. */
export const explainRun = async (
  { kiln, signal }: { kiln: Pick<Kiln, 'templates'>; signal: AbortSignal | undefined },
  { name, body }: { name: string; body: object },
  error: unknown,
): Promise<unknown> => {
  if (!(error instanceof KilnError) || error.status === undefined || error.status >= 500)
    return error
  const templates = await kiln.templates.list({ signal }).catch(() => undefined)
  const template = templates?.find((one) => one.name === name)
  if (templates && error.code === 'template_not_found') return absent(name, templates, error)
  const files = template && listFiles(template)
  const missing = files?.find((file) => !(file in body))
  return files === undefined || missing === undefined
    ? error
    : explain(error, `${name} needs the file ${missing}: kiln run ${name} ${showFiles(files)}`)
}

/** A file without a name is the image. */
const showFiles = (files: readonly string[]): string =>
  files.map((file) => (file === 'image' ? '<file>' : `${file}=<file>`)).join(' ')

const absent = (name: string, templates: readonly Template[], cause?: KilnError): KilnError => {
  const near = templates.find((one) => isNear(one.name, name))
  const advice =
    '`kiln templates` lists them, and `kiln operate templates` says to operators why a file is none'
  const rest = near === undefined ? `: ${advice}` : `; did you mean ${near.name}? ${advice}`
  return explain(cause ?? { code: 'template_not_found' }, `there is no template ${name}${rest}`)
}

const explain = (
  error: Pick<KilnError, 'code'> & Partial<Pick<KilnError, 'status' | 'requestId'>>,
  message: string,
): KilnError => {
  const { code, status, requestId } = error
  return new KilnError({ code, message, status, requestId, cause: error })
}

/** True where one letter is wrong, missing or too many, or two neighbours have changed places. */
const isNear = (one: string, other: string): boolean => {
  let start = 0
  while (start < one.length && one[start] === other[start]) start += 1
  const [rest, further] = [one.slice(start), other.slice(start)]
  return (
    rest.slice(1) === further.slice(1) ||
    rest.slice(1) === further ||
    rest === further.slice(1) ||
    (rest.slice(2) === further.slice(2) && rest[0] === further[1] && rest[1] === further[0])
  )
}
