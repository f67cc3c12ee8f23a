import type { Data } from '../api/schema.ts'
import { t } from '../words/translate.ts'
import { labelIn, timeOf, type TaskFilter } from './list-rows.ts'

export type OperationAction = Data<'/operations/{id}'>['action']

/** Tasks that an operation is for: chosen ones, or all that the list shows and would show further down. */
export type Chosen = { task_ids: string[] } | TaskFilter

/** Each member in words, and as queries and operations have it: the only way from the address to the API. */
const MEMBERS: Readonly<
  Record<keyof TaskFilter, [words: string, toApi: (text: string) => object]>
> = {
  kind: [t('kind'), (list) => ({ kind: list.split(',') })],
  state: [t('state'), (list) => ({ state: list.split(',') })],
  label: [t('label'), (text) => (labelIn(text) ? { label: [text] } : {})],
  q: [t('prompt'), (q) => ({ q })],
  from: [t('made since'), (day) => ({ from: timeOf(day, 0) })],
  to: [t('made until'), (day) => ({ to: timeOf(day, 1) })],
  // Whose tasks they are stands beside a filter.
  owner: [t('owner'), () => ({})],
}

const partsOf = (filter: TaskFilter) =>
  Object.entries(MEMBERS).flatMap(([name, [words, toApi]]) => {
    const text = filter[name as keyof TaskFilter]
    if (!text) return []
    const api = toApi(text)
    const list: unknown = Object.values(api)[0]
    return [{ name, words: `${words} ${Array.isArray(list) ? list.join(', ') : text}`, api }]
  })

export const toApiFilter = (filter: TaskFilter): object =>
  Object.assign({}, ...partsOf(filter).map(({ api }) => api)) as object

/** `kind relight, label project:alpha`: all that has an effect. */
export const describeFilter = (filter: TaskFilter): string =>
  partsOf(filter)
    .filter(({ name, api }) => name === 'owner' || Object.keys(api).length > 0)
    .map(({ words }) => words)
    .join('; ')

/** Body of an operation. One without a filter says that it means all. */
export const operationBody = (
  action: OperationAction,
  { owner, ...chosen }: Chosen & { owner?: string },
) => {
  const filter = 'task_ids' in chosen ? chosen : toApiFilter(chosen)
  const isAll = Object.keys(filter).length === 0
  return { action, filter, owner, ...(isAll && { all: true }) }
}
