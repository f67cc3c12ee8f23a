import type { ReactNode } from 'react'
import { Button as AriaButton, type ButtonProps as AriaProps } from 'react-aria-components/Button'
import { Tooltip, TooltipTrigger } from 'react-aria-components/Tooltip'

import styles from './button.module.css'
import layers from './layers.module.css'

export interface ButtonProps extends Omit<AriaProps, 'className' | 'style' | 'children'> {
  /** primary: the one thing the page is for. danger: it takes something away. quiet: without a border. */
  variant?: 'primary' | 'danger' | 'quiet'
  children?: ReactNode
}

export const buttonClass = (...names: (ButtonProps['variant'] | 'icon')[]): string =>
  ['button', ...names].map((name) => name && styles[name]).join(' ')

/** Its text names its effect: "Publish 1.2.0". While `isPending` it takes no press and says so. */
export const Button = ({ variant, ...props }: ButtonProps) => (
  <AriaButton {...props} className={buttonClass(variant)} />
)

/** A button that is an icon alone; its label is read out and shown beside it. */
export const IconButton = ({ label, ...props }: ButtonProps & { label: string }) => (
  <TooltipTrigger delay={500}>
    <AriaButton {...props} aria-label={label} className={buttonClass('quiet', 'icon')} />
    <Tooltip className={layers.tooltip} offset={4}>
      {label}
    </Tooltip>
  </TooltipTrigger>
)
