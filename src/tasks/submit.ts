import { renamePath, type AliasTable } from '../platform/alias/table.ts'
import { makeOpen } from '../platform/alias/translation.ts'
import type { Transaction } from '../platform/db/client.ts'
import { unitOfWork } from '../platform/db/unit-of-work.ts'
import type { BatchRequest } from './domain/bulk/batch.ts'
import { apiError, shown } from '../platform/domain/errors.ts'
import { isObject } from '../platform/domain/is-object.ts'
import { makeOnce } from '../platform/domain/make-once.ts'
import type { Labels } from './domain/task-options.ts'
import { fingerprintsOf } from '../platform/json-body/fingerprint.ts'
import type { ImageLimits } from '../platform/json-body/images.ts'
import { takeImages } from '../platform/json-body/take-images.ts'
import { makeValidateBody, requireValid } from '../platform/json-body/validate-body.ts'
import {
  underClaim,
  withoutEcho,
  type Claim,
  type Idempotency,
} from '../platform/process/idempotency.ts'
import { createTask } from './create.ts'
import type { Creation } from './creation.ts'
import type { TaskDeps } from './deps.ts'

export interface SubmittedTask {
  id: string
  /** An earlier request with the same key has made it. */
  isReplayed?: boolean
  /** JSON Pointers of members that nothing read. */
  ignored?: readonly string[]
}

/** A request to make a task, which came by another way than HTTP. */
export interface Submission extends BatchRequest {
  owner: string
  /** Labels that the task gets beside its own. */
  labels?: Labels | undefined
  batchId?: string
  /** Task whose request it is. */
  runAgainOf?: string
  /** Called in the transaction that makes the task; what it throws rolls that back. */
  record(sql: Transaction, task: SubmittedTask): Promise<void>
}

export interface SubmitDeps extends TaskDeps, Omit<ImageLimits, 'maxImages'> {
  idempotency: Idempotency
  /** Absent: the interface's names are the only ones. */
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

  const make = async (
    creation: Creation,
    { path, body: given, owner, labels, batchId, runAgainOf, record }: Submission,
    claim: Claim | undefined,
  ): Promise<void> => {
    const translation = openOf(creation)?.(creation.path !== path)
    const taken = await takeImages(given, { ...creation, ...deps })
    try {
      const own = translation?.body(taken.value) ?? taken.value
      // As the request that has this body alone would have it.
      const prints = claim
        ? fingerprintsOf('', { ...taken, value: own }, deps.signer.nameLink)
        : ([''] as const)
      const replayed = claim?.replay(prints)
      if (replayed) {
        const task = { id: idOf(replayed.body), isReplayed: true }
        return await unitOfWork(deps, (sql) => record(sql, task))
      }
      const value = withLabels(own, labels)
      const body = validatorOf(creation)({ ...taken, value })
      const unread = requireValid(creation, { body, nameUnread: translation?.unread })
      const ignored = unread.map(({ field }) => field)
      await createTask(deps, creation, {
        owner,
        account: owner,
        batchId,
        runAgainOf,
        body: body.value,
        inline: body.inline,
        async save(sql, { id, response }) {
          await record(sql, { id, ignored })
          await claim?.save(withoutEcho(creation.echo, response), prints, sql)
        },
      })
    } catch (error) {
      throw translation?.error(error) ?? error
    } finally {
      await taken.discard()
    }
  }

  return async (submission) => {
    const { path, owner, idempotency_key: key } = submission
    const creation = findCreation(list(), path, aliases)
    if (key === undefined) return await make(creation, submission, undefined)
    const scope = { principal: `user:${owner}`, method: 'POST', path: creation.path, key }
    const secret = creation.secretResponse ?? false
    const claim = await deps.idempotency.claim({ scope, secret })
    await underClaim(claim, () => make(creation, submission, claim))
  }
}

/** The id of the task in a response to a creation of either family. */
const idOf = (body: unknown): string => {
  const { data, task_id: id = data?.task_id } = body as MadeBody
  if (id === undefined) throw new Error('a response without a task')
  return id
}

interface MadeBody {
  task_id?: string
  data?: { task_id: string }
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
