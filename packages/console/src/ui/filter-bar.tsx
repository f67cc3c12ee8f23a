import { SlidersHorizontal } from 'lucide-react'
import { useState, type ReactNode } from 'react'

import { t } from '../words/translate.ts'
import { Button } from './button.tsx'
import styles from './fields.module.css'
import { Dialog } from './layers.tsx'
import { Stack } from './panels.tsx'
import type { Children } from './values.tsx'

type FilterBarProps = Children & {
  label: string
  /** Field that a phone shows, too. */
  first?: ReactNode
  /** Number of filters that are set, beside the first field. */
  count: number
  /** Absent while nothing is set. */
  onClear?: (() => void) | undefined
}

/** Filters of a list, on a phone behind a button. They live in the address, so that they can be sent to somebody. */
export const FilterBar = ({ label, first, count, onClear, children }: FilterBarProps) => {
  const [isOpen, setOpen] = useState(false)
  return (
    <div className={`stack tight ${styles.filters}`} role="search" aria-label={label}>
      {first}
      <div className={`screen ${styles.choices}`}>{children}</div>
      <div className="phone">
        <Button onPress={() => setOpen(true)}>
          <SlidersHorizontal aria-hidden />
          {t('Filters')}
          {count > 0 && ` (${count})`}
        </Button>
      </div>
      {onClear && (
        <Button variant="quiet" onPress={onClear}>
          {t('Clear')}
        </Button>
      )}
      {isOpen && (
        <Dialog title={t('Filters')} onClose={() => setOpen(false)}>
          <Stack>{children}</Stack>
        </Dialog>
      )}
    </div>
  )
}
