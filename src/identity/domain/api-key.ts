import { Type, type Static } from 'typebox'

import { KeyScope } from '../../platform/domain/key-scope.ts'

const time = (description: string) => Type.String({ format: 'date-time', description })

const scope = {
  scopes: Type.Optional(
    Type.Array(KeyScope, {
      minItems: 1,
      maxItems: KeyScope.enum.length,
      uniqueItems: true,
      description: 'What it may do; absent: all that its owner may.',
      'x-expectation': `a list of at least one of ${KeyScope.enum.join(', ')}, each once`,
    }),
  ),
  credit_cap: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1_000_000_000,
      description:
        'Most credits that it may be charged, charges minus refunds; absent: as many as its owner. Images cost no credits, so it does not bound them.',
    }),
  ),
}

const base = {
  id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  createdAt: time('When the key was made.'),
  expires_at: Type.Optional(time('When the key ends; absent for one that does not.')),
  ...scope,
}

/** Body of a request that makes a key. */
export const NewApiKey = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 128, description: 'What the key is for.' }),
    expires_at: Type.Optional(time('A time in the future at which the key ends.')),
    ...scope,
  },
  { title: 'NewApiKey' },
)
export type NewApiKey = Static<typeof NewApiKey>

/** A key as its row shows it. */
export const ApiKey = Type.Object(base)
export type ApiKey = Static<typeof ApiKey>

/** A key in the response to its creation, the only one with the secret. */
export const CreatedApiKey = Type.Object(
  {
    ...base,
    key: Type.String({ description: 'The secret, shown this once.' }),
  },
  { title: 'CreatedApiKey' },
)
export type CreatedApiKey = Static<typeof CreatedApiKey>

export const ListedApiKey = Type.Object(
  {
    ...base,
    key: Type.String({ description: 'Masked: the prefix and the last four characters.' }),
    credits_used: Type.Optional(
      Type.Integer({ minimum: 0, description: 'What it was charged; only of one with a cap.' }),
    ),
    last_used_at: Type.Optional(time('Last use, exact to the hour; absent before the first.')),
  },
  { title: 'ApiKey' },
)
export type ListedApiKey = Static<typeof ListedApiKey>
