import { Type, type Static } from 'typebox'

import { instant, reason, uuid } from '../../platform/domain/schema-fields.ts'

const to = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'Id of the publisher that gets it.',
})

/** Body of POST /publishers/{p}/nodes/{n}/transfer. */
export const NewTransfer = Type.Object({ to })
export type NewTransfer = Static<typeof NewTransfer>

/** Body of POST /admin/nodes/{n}/transfer. */
export const AdminTransfer = Type.Object({ to, reason: reason('Why; for the audit log.') })
export type AdminTransfer = Static<typeof AdminTransfer>

/** A node that an owner has offered to another publisher. */
export const Transfer = Type.Object({
  id: uuid('Id of the offer.'),
  node_id: Type.String({ description: 'The pack.' }),
  from: Type.String({ description: 'Id of the publisher that has it.' }),
  to: Type.String({ description: 'Id of the publisher that may accept it.' }),
  asked_by: Type.String({ description: 'Id of the user.' }),
  asked_at: instant('When.'),
  expires_at: instant('Until when it may be accepted: 14 days.'),
})
export type Transfer = Static<typeof Transfer>

export const Transfers = Type.Object({
  transfers: Type.Array(Transfer, {
    description: 'Open offers of and to the publisher, oldest first.',
  }),
})
