import type { Data } from '../api/schema.ts'

export type Fleet = Data<'/admin/instances'>
export type Instance = Fleet['instances'][number]
type Template = Fleet['templates'][number]

/** Those that an operator mends come first. */
const ORDER = ['quarantined', 'gone', 'stalled', 'resting', 'draining', 'busy', 'ready']

export const sortInstances = (instances: readonly Instance[]): Instance[] =>
  instances.toSorted(
    (a, b) =>
      ORDER.indexOf(a.state) - ORDER.indexOf(b.state) ||
      a.name.localeCompare(b.name, 'en', { numeric: true }),
  )

interface TemplateRow extends Pick<Template, 'name' | 'warnings' | 'model_files' | 'lacking'> {
  version?: string
  /** Undefined: the queue of a kind whose templates all have a plus in their names. */
  able: number | undefined
  tasks: number
  oldest_seconds: number
  reasons: Fleet['waiting'][number]['reasons']
}

/** Templates with their queues, the longest first. */
export const listTemplates = ({ templates, waiting }: Fleet): TemplateRow[] => {
  const queueOf = (name: string) => waiting.find(({ template }) => template === name)
  const isKnown = (kind: string) => templates.some(({ name }) => name.split('+')[0] === kind)
  const others = waiting.filter(({ template }) => !templates.some(({ name }) => name === template))
  return [
    ...others.map(({ template: name, ...queue }) => ({
      ...queue,
      name,
      warnings: [],
      model_files: [],
      lacking: [],
      able: isKnown(name) ? undefined : 0,
    })),
    ...templates.map((template) => ({
      tasks: 0,
      oldest_seconds: 0,
      reasons: [],
      ...queueOf(template.name),
      ...template,
    })),
  ].toSorted((a, b) => b.tasks - a.tasks)
}
