import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Autocomplete, useFilter } from 'react-aria-components/Autocomplete'
import { Menu } from 'react-aria-components/Menu'

import { signOut } from '../api/session.ts'
import { TextField } from '../ui/fields.tsx'
import layers from '../ui/layers.module.css'
import { Dialog, MenuItem } from '../ui/layers.tsx'
import { taskPage } from '../ui/link.tsx'
import { Facts } from '../ui/panels.tsx'
import { Bdi } from '../ui/values.tsx'
import type { PageLinkSpec } from './pages.ts'
import { changeSettings } from './settings.ts'

const TASK_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

interface CommandsProps {
  pages: readonly PageLinkSpec[]
  isSignedIn: boolean
  onHelp(): void
  onClose(): void
}

/** Everything that can be done from anywhere, by its name; what is typed can be searched for, and the id of a task be opened. */
export const Commands = ({ pages, isSignedIn, onHelp, onClose }: CommandsProps) => {
  const go = useNavigate()
  const { contains } = useFilter({ sensitivity: 'base' })
  const [text, setText] = useState('')
  const q = text.trim()
  const commands: [name: string, act: () => unknown][] = [
    ...pages.map(({ to, title }): [string, () => unknown] => [title, () => go({ to })]),
    ['Account', () => go({ to: '/account' })],
    ['Documentation', () => location.assign('/docs')],
    ['Keys', onHelp],
    ['Light theme', () => changeSettings({ theme: 'light' })],
    ['Dark theme', () => changeSettings({ theme: 'dark' })],
    ['Theme of the system', () => changeSettings({ theme: 'system' })],
  ]
  if (isSignedIn) commands.push(['Sign out', signOut])
  if (TASK_ID.test(q)) commands.push([`Open task ${q}`, () => go(taskPage(q))])
  if (q !== '')
    commands.push([`Search the registry for ${q}`, () => go({ to: '/registry', search: { q } })])
  return (
    <Dialog title="Commands" isOpen onClose={onClose}>
      <Autocomplete filter={contains} inputValue={text} onInputChange={setText}>
        <TextField
          label="Command"
          isLabelHidden
          isSearch
          autoFocus
          placeholder="Type a command, a search or an id"
        />
        <Menu className={layers.items} aria-label="Commands">
          {commands.map(([name, act]) => (
            <MenuItem
              key={name}
              id={name}
              textValue={name}
              onAction={() => {
                onClose()
                act()
              }}
            >
              <Bdi>{name}</Bdi>
            </MenuItem>
          ))}
        </Menu>
      </Autocomplete>
    </Dialog>
  )
}

const KEYS = {
  '?': 'this list',
  '/': 'search',
  'Ctrl K': 'commands',
  'g then h t a r p m o': 'Home, Try, tAsks, Registry, Publishers, Moderation, Operations',
  'j k or arrows': 'the next and the previous row',
  Enter: 'open a row',
  c: 'cancel a task',
  r: 'redeliver an event',
  'n p': 'the next and the previous change',
  'a h b': 'approve, hold back, ban',
  'arrows at a slider': '1 %, with Shift 10 %',
  Esc: 'close',
}

/** What the keys do. */
export const KeyHelp = ({ onClose }: { onClose(): void }) => (
  <Dialog title="Keys" isOpen onClose={onClose}>
    <Facts of={KEYS} />
    <p>Keys of one letter rest in fields, and can be switched off under Account.</p>
  </Dialog>
)
