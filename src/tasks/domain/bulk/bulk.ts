import { Type, type Static } from 'typebox'

import { instant } from '../../../platform/domain/schema-fields.ts'
import { EngineErrorText } from '../engine-error.ts'

/** Work on many tasks, one after another: a batch makes them, an operation acts on them. */
export type BulkKind = 'batch' | 'operation'

/** Most items of one, and most that one owner has open. */
export const MAX_ITEMS = 100_000
export const MAX_OPEN = 20

export const BulkState = Type.Enum(
  ['preparing', 'running', 'cancelling', 'done', 'cancelled', 'failed'],
  {
    description:
      '`preparing`: its items are counted. `failed`: there was nothing that it could work on, or the credential that it was made with has ended; `error` has the reason.',
  },
)
export type BulkState = Static<typeof BulkState>
export const FIRST_STATE: BulkState = 'preparing'

export const ItemError = Type.Object({
  code: Type.String(),
  message: Type.String(),
  details: Type.Optional(Type.Array(Type.String())),
  engine_error: EngineErrorText,
})
export type ItemError = Static<typeof ItemError>

export const count = (description: string) => Type.Integer({ minimum: 0, description })

/** Members that both have. */
export const progress = {
  state: BulkState,
  total: count(
    'Items that are known: of a list all of them, of a file or a filter once it is `running`.',
  ),
  error: Type.Optional({
    ...ItemError,
    description: 'Why it has failed, or what it waits for: an open task of the owner to end.',
  }),
  created_at: instant('When it was made.'),
  ended_at: Type.Optional(instant('When it ended, and all of its tasks.')),
}

export const BulkQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Most of a page.' }),
  after: Type.Optional(
    Type.String({ maxLength: 200, description: 'The `next` of the page before.' }),
  ),
})
export type BulkQuery = Static<typeof BulkQuery>

export const next = Type.Optional(
  Type.String({ description: 'Asks for the next page, as `after`; absent on the last one.' }),
)

/** Outcome of an item: what it asks for was done, or is rejected for good. */
export type ItemOutcome =
  | { outcome: 'done'; taskId?: string; result?: object }
  | { outcome: 'rejected'; error: ItemError }

/** Stored state of one, with what is asked of it. */
interface Standing {
  state: Exclude<BulkState, 'cancelling'>
  isCancelRequested: boolean
  endedAt: Date | null
}

export const showState = ({ state, isCancelRequested, endedAt }: Standing): BulkState =>
  isCancelRequested && endedAt === null ? 'cancelling' : state
