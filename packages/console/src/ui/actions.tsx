import { Ellipsis } from 'lucide-react'
import { useState } from 'react'

import { t } from '../words/translate.ts'
import { Ask, type AskProps } from './ask.tsx'
import { IconButton } from './button.tsx'
import { Menu, MenuItem } from './layers.tsx'

/** An entry of a menu, with what it asks before it writes. */
export type Action = Omit<AskProps<unknown>, 'action'> & { label: string; action?: string }

type Revocation = { name: string; credential: 'key' | 'token'; write(): Promise<unknown> }

/** The entry that ends a credential. */
export const revocation = ({ name, credential, write }: Revocation): Action => ({
  label: t('Revoke'),
  variant: 'danger',
  title: t('Revoke {name}?', { name }),
  action: credential === 'key' ? t('Revoke key') : t('Revoke token'),
  write,
  children: <p>{t('Requests that use it are rejected from now on.')}</p>,
})

type ActionsProps = { label: string; actions: readonly (Action | false | undefined)[] }

/** A menu behind "⋯", each of whose entries opens its form; nothing where there are none. */
export const Actions = ({ label, actions }: ActionsProps) => {
  const [chosen, setChosen] = useState<Action>()
  const offered = actions.filter((action) => action !== false && action !== undefined)
  if (offered.length === 0) return null
  return (
    <>
      <Menu
        label={label}
        trigger={
          <IconButton label={label}>
            <Ellipsis aria-hidden />
          </IconButton>
        }
      >
        {offered.map((action) => (
          <MenuItem key={action.label} onAction={() => setChosen(action)}>
            {action.label}
          </MenuItem>
        ))}
      </Menu>
      {chosen && (
        <Ask
          title={chosen.label}
          action={chosen.label}
          {...chosen}
          onClose={() => setChosen(undefined)}
        />
      )}
    </>
  )
}
