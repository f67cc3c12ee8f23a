import { Type } from 'typebox'

import { instant } from '../../platform/domain/schema-fields.ts'

/** Time at which the owner of a task deleted it. Records, lists and webhooks have it in place of what is gone. */
export const DeletedAt = Type.Optional(
  instant('When its owner deleted it: its files are gone, or go once it has ended.'),
)
