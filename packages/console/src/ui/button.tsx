import type { ReactNode } from 'react'
import { Button as AriaButton, type ButtonProps as AriaProps } from 'react-aria-components/Button'
import { Tooltip, TooltipTrigger } from 'react-aria-components/Tooltip'

import styles from './button.module.css'
import layers from './layers.module.css'

export interface ButtonProps extends Omit<AriaProps, 'className' | 'style' | 'children'> {
  /** primary: the one thing the page is for. danger: it takes something away. quiet: without a border. */
  look?: 'primary' | 'danger' | 'quiet'
  children?: ReactNode
}

export const buttonClass = (look?: ButtonProps['look']): string =>
  [styles.button, look && styles[look]].filter(Boolean).join(' ')

/** Its text names its effect: "Publish 1.2.0". While `isPending` it takes no press and says so. */
export const Button = ({ look, ...props }: ButtonProps) => (
  <AriaButton {...props} className={buttonClass(look)} />
)

/** A button that is an icon alone; its label is read out and shown beside it. */
export const IconButton = ({
  label,
  look = 'quiet',
  ...props
}: ButtonProps & { label: string }) => (
  <TooltipTrigger delay={500}>
    <AriaButton {...props} aria-label={label} className={`${buttonClass(look)} ${styles.icon}`} />
    <Tooltip className={layers.tooltip} offset={4}>
      {label}
    </Tooltip>
  </TooltipTrigger>
)
