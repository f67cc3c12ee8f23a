import { Suspense, useRef, useState, type ReactNode } from 'react'
import { ButtonContext } from 'react-aria-components/Button'

import { lazyPart } from '../shell/lazy-page.ts'
import type { MenuLayerProps } from './layers.tsx'

const load = () => import('./layers.tsx')
const MenuLayer = lazyPart(async () => (await load()).MenuLayer)

// Before another build is served in place of this one: the end of a session needs it, too.
const LATER_MS = 10_000
setTimeout(() => void load().catch(() => {}), LATER_MS)

type LaterMenuProps = Pick<MenuLayerProps, 'label' | 'children'> & { trigger: ReactNode }

/** A button and its menu as `Menu` has them, whose code is loaded at the first press: few open those of the frame. */
export const LaterMenu = ({ trigger, ...menu }: LaterMenuProps) => {
  const place = useRef<HTMLButtonElement>(null)
  const [isOpen, setOpen] = useState(false)
  const button = {
    ref: place,
    onPress: () => setOpen(true),
    'aria-haspopup': 'menu',
    'aria-expanded': isOpen,
  } as const
  return (
    <>
      <ButtonContext.Provider value={button}>{trigger}</ButtonContext.Provider>
      <Suspense>
        {isOpen && <MenuLayer {...menu} place={place} onClose={() => setOpen(false)} />}
      </Suspense>
    </>
  )
}
