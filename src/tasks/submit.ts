import type { Transaction } from '../db/client.ts'
import { renamePath, type AliasTable } from '../alias/table.ts'
import { makeOpen } from '../alias/translation.ts'
import { apiError, shown } from '../domain/shared/errors.ts'
import { isObject } from '../domain/shared/is-object.ts'
import { makeOnce } from '../domain/shared/make-once.ts'
import type { Labels } from '../domain/task/task-options.ts'
import type { ImageLimits } from '../json-body/images.ts'
import { takeImages } from '../json-body/take-images.ts'
import { makeValidateBody, requireValid } from '../json-body/validate-body.ts'
import type { Creation } from './creation.ts'

/** A request to make a task, which came by another way than HTTP. */
export interface Submission {
  /** Path on which such tasks are made. */
  path: string
  body: Record<string, unknown>
  owner: string
  /** Labels that the task gets beside its own. */
  labels?: Labels | undefined
  /** Called in the transaction that makes the task; what it throws rolls that back. */
  record(sql: Transaction, taskId: string): Promise<void>
}

export interface SubmitDeps extends Omit<ImageLimits, 'maxImages'> {
  /** Absent: names are those of the interface alone. */
  aliases?: AliasTable | undefined
}

/** Makes the task of a request as its route would. Throws what the route would respond with. */
export type Submit = (submission: Submission) => Promise<void>

/** @param list the ways in which tasks are made, also by their other names */
export const makeSubmit = (deps: SubmitDeps, list: () => readonly Creation[]): Submit => {
  const { aliases } = deps
  const validatorOf = makeOnce((creation: Creation) => makeValidateBody(creation))
  const openOf = makeOnce(
    (creation: Creation) => aliases && makeOpen({ ...creation, body: creation }, aliases),
  )
  return async ({ path, body: given, owner, labels, record }) => {
    const creation = findCreation(list(), path, aliases)
    const translation = openOf(creation)?.(creation.path !== path)
    const taken = await takeImages(withLabels(given, labels), { ...creation, ...deps })
    try {
      const value = translation?.body(taken.value) ?? taken.value
      const body = validatorOf(creation)({ ...taken, value })
      requireValid(creation, { body, nameUnread: translation?.unread })
      await creation.create({
        owner,
        account: owner,
        body: body.value,
        inline: body.inline,
        save: (sql, { id }) => record(sql, id),
      })
    } catch (error) {
      throw translation?.error(error) ?? error
    } finally {
      await taken.discard()
    }
  }
}

/** A body whose labels are none is left to be rejected. */
const withLabels = (body: Record<string, unknown>, labels: Labels | undefined) => {
  const { kiln_labels: own = {} } = body
  return labels && isObject(own) ? { ...body, kiln_labels: { ...labels, ...own } } : body
}

const findCreation = (
  creations: readonly Creation[],
  path: string,
  aliases: AliasTable | undefined,
): Creation => {
  const found =
    creations.find((each) => each.path === path) ??
    (aliases && creations.find((each) => renamePath(aliases, each.path) === path))
  if (found) return found
  const sentence = `/path must be a path on which tasks are made, got ${shown(path)}`
  throw apiError('validation_failed', sentence, { details: [sentence] })
}
