import { queryOptions } from '@tanstack/react-query'

import { answerOf, api } from '../api/client.ts'

export const API_KEYS = ['me', 'api-keys']

export const apiKeysQuery = queryOptions({
  queryKey: API_KEYS,
  queryFn: ({ signal }) => answerOf(api.GET('/users/api-keys', { signal })),
})

export const WEBHOOK_SECRET = ['me', 'webhook-secret']

/** A secret: not kept once nobody shows it. */
export const webhookSecretQuery = queryOptions({
  queryKey: WEBHOOK_SECRET,
  queryFn: ({ signal }) => answerOf(api.GET('/webhook-secret', { signal })),
  gcTime: 0,
})
