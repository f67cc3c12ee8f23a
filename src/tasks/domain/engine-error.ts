import { Type } from 'typebox'

/** Words of the engine of a failed task, for its callers. */
export const EngineErrorText = Type.Optional(
  Type.String({
    description:
      'What its engine said, cut and without texts of the request; of one with `errors=shown`.',
  }),
)
