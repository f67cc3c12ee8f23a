import type { TObject } from 'typebox'

import { listUnreadNames } from '../../domain/unread.ts'
import type { Unread } from '../../domain/unread.ts'
import { fromText } from '../../domain/from-text.ts'
import { makeIssue, makeValidator, type Issue } from '../../domain/validate.ts'

/** The query of a request's target, without its question mark. A second question mark belongs to a value. */
export const rawQuery = (target: string): string => {
  const at = target.indexOf('?')
  return at < 0 ? '' : target.slice(at + 1)
}

/** `repeated`: each item of a list has a name of its own, and a comma is part of it. `commas`: they part items, too. */
export type ListForm = 'commas' | 'repeated'

/**
 * Makes the reader of a route's query: the only place where strings become numbers. Unknown names are listed; a name
 * given twice is an issue, since either value could be meant, unless it is a list. `emptyIsAbsent` names members that
 * are absent when empty; in a list whose name is repeated, empty items are absent. `x-list` is the form of one list.
 */
export const makeQueryReader = (
  schema: TObject,
  emptyIsAbsent: readonly string[] = [],
  form: ListForm = 'commas',
) => {
  const validate = makeValidator(schema, emptyIsAbsent)
  const names = Object.keys(schema.properties)
  const lists = names.filter(
    (name) => (schema.properties[name] as { type?: string }).type === 'array',
  )
  const formOf = (name: string): ListForm =>
    (schema.properties[name] as { 'x-list'?: ListForm })['x-list'] ?? form
  const dropped = form === 'repeated' ? lists.filter((name) => emptyIsAbsent.includes(name)) : []
  return (query: string): { value: unknown; issues: Issue[]; unread: Unread[] } => {
    const search = new URLSearchParams(query)
    const unread = listUnreadNames(names, search)
    for (const name of dropped) search.delete(name, '')
    const given = [...new Set(search.keys())].filter((name) => names.includes(name))
    const twice = given.filter((name) => !lists.includes(name) && search.getAll(name).length > 1)
    const texts = given
      .filter((name) => !twice.includes(name))
      .map((name) => [
        name,
        lists.includes(name)
          ? itemsOf(search.getAll(name), formOf(name))
          : (search.get(name) ?? ''),
      ])
    const { value, issues } = validate(fromText(schema, Object.fromEntries(texts)))
    const rejected = twice.map(givenTwice)
    // The schema was not shown a name that was given twice, so it may also call it absent.
    const others = issues
      .map(asQueryIssue)
      .filter(({ field }) => !rejected.some((issue) => issue.field === field))
    return { value, issues: [...rejected, ...others], unread }
  }
}

const itemsOf = (texts: string[], form: ListForm): string[] =>
  form === 'repeated' ? texts : texts.flatMap((text) => text.split(','))

const givenTwice = (name: string): Issue =>
  makeIssue(`?${name}`, 'must be given once, got several values')

const asQueryIssue = (issue: Issue): Issue => ({
  ...issue,
  field: issue.field.replace('/', '?'),
  message: issue.message.replace('/', '?'),
})
