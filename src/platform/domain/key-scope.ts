import { Type, type Static } from 'typebox'

export const KeyScope = Type.Enum(['images', 'videos', 'read', 'publish', 'webhooks'], {
  title: 'ApiKeyScope',
  description:
    '`images` and `videos` make, read, cancel and delete tasks of that kind and no other, with their uploads and events; `read` reads all that the owner may but webhook secrets; `publish` writes in the registry and reads it where it is not public; `webhooks` has the webhook secret and the endpoints.',
})
export type KeyScope = Static<typeof KeyScope>
