import { Type, type Static } from 'typebox'

export const RegistryReads = Type.Enum(['public', 'signed-in', 'members'], {
  default: 'public',
  description:
    'Who may read the registry, its archives, pictures and questions about workflows: everybody, who has a credential, or members of any publisher. Platform admins always may.',
})
export type RegistryReads = Static<typeof RegistryReads>
