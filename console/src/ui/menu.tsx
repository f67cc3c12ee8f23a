import type { ReactNode } from 'react'
import { Menu as AriaMenu, MenuItem as AriaItem, MenuTrigger } from 'react-aria-components/Menu'
import type { MenuItemProps } from 'react-aria-components/Menu'
import { Popover } from 'react-aria-components/Popover'

import styles from './layers.module.css'

interface MenuProps {
  trigger: ReactNode
  label: string
  children: ReactNode
}

/** A button and the menu that it opens: `<Menu trigger={<Button>More</Button>}><MenuItem onAction={…}>Cancel</MenuItem></Menu>`. */
export const Menu = ({ trigger, label, children }: MenuProps) => (
  <MenuTrigger>
    {trigger}
    <Popover className={styles.popover} offset={4}>
      <AriaMenu className={styles.items} aria-label={label}>
        {children}
      </AriaMenu>
    </Popover>
  </MenuTrigger>
)

export const MenuItem = (props: Omit<MenuItemProps, 'className' | 'style'>) => (
  <AriaItem
    {...props}
    className={styles.item}
    textValue={props.textValue ?? (typeof props.children === 'string' ? props.children : undefined)}
  />
)
