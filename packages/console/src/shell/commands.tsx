import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Autocomplete, useFilter } from 'react-aria-components/Autocomplete'
import { Menu } from 'react-aria-components/Menu'

import { session, signOut } from '../api/session.ts'
import { useStore } from '../api/store.ts'
import { TextField } from '../ui/fields.tsx'
import layers from '../ui/layers.module.css'
import { Dialog, MenuItem } from '../ui/layers.tsx'
import { taskPage } from '../ui/link.tsx'
import { Facts } from '../ui/panels.tsx'
import { Bdi } from '../ui/values.tsx'
import { LANGUAGES } from '../words/language.ts'
import { t } from '../words/translate.ts'
import { PAGES, usePages } from './pages.ts'
import { changeLanguage, changeSettings } from './settings.ts'

const TASK_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Everything that can be done from anywhere, by its name; what is typed can be searched for, and the id of a task be opened. */
export const Commands = ({ onHelp, onClose }: { onHelp(): void; onClose(): void }) => {
  const go = useNavigate()
  const pages = usePages()
  const { user } = useStore(session)
  const { contains } = useFilter({ sensitivity: 'base' })
  const [text, setText] = useState('')
  const q = text.trim()
  const commands: Record<string, () => unknown> = {
    ...Object.fromEntries(pages.map(({ to, title }) => [title, () => go({ to })])),
    [t('Account')]: () => go({ to: '/account' }),
    [t('Documentation')]: () => location.assign('/docs'),
    [t('Keys')]: onHelp,
    [t('Light theme')]: () => changeSettings({ theme: 'light' }),
    [t('Dark theme')]: () => changeSettings({ theme: 'dark' }),
    [t('System theme')]: () => changeSettings({ theme: 'system' }),
    ...Object.fromEntries(
      Object.entries(LANGUAGES).map(([tag, name]) => [name, () => changeLanguage(tag)]),
    ),
    ...(user !== undefined && { [t('Sign out')]: signOut }),
    ...(TASK_ID.test(q) && { [t('Open task {q}', { q })]: () => go(taskPage(q)) }),
    ...(q && {
      [t('Search the registry for {q}', { q })]: () => go({ to: '/registry', search: { q } }),
    }),
  }
  return (
    <Dialog title={t('Commands')} onClose={onClose}>
      <Autocomplete filter={contains} inputValue={text} onInputChange={setText}>
        <TextField
          label={t('Command')}
          isLabelHidden
          type="search"
          autoFocus
          placeholder={t('Type a command, a search or an id')}
        />
        <Menu
          className={layers.items}
          aria-label={t('Commands')}
          onAction={(name) => {
            onClose()
            commands[name]?.()
          }}
        >
          {Object.keys(commands).map((name) => (
            <MenuItem key={name} id={name} textValue={name}>
              <Bdi>{name}</Bdi>
            </MenuItem>
          ))}
        </Menu>
      </Autocomplete>
    </Dialog>
  )
}

const KEYS = {
  '?': t('Show this list'),
  '/': t('Search'),
  'Ctrl K': t('Commands'),
  [t('j k or arrows')]: t('Next and previous row'),
  [t('Enter')]: t('Open the row'),
  c: t('Cancel the task'),
  r: t('Resend the event'),
  'n p': t('Next and previous change'),
  'a h b': t('Approve, flag, ban'),
  [t('Arrows on a slider')]: t('Move by 1 %, with Shift by 10 %'),
  Esc: t('Close'),
}

const WAYS = PAGES.map(
  ({ letter, title }) => [t('G then {letter}', { letter: letter.toUpperCase() }), title] as const,
)

/** Dialog that lists the keys. */
export const KeyHelp = ({ onClose }: { onClose(): void }) => (
  <Dialog title={t('Keys')} onClose={onClose}>
    <Facts of={{ ...KEYS, ...Object.fromEntries(WAYS) }} />
    <p>{t('Single-key shortcuts are ignored in text fields. Turn them off under Account.')}</p>
  </Dialog>
)
