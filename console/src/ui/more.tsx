import { useState } from 'react'
import type { ReactNode } from 'react'

import { Button } from './button.tsx'

/** So many of the rows, and a button that shows as many more, or `step`. */
export const useMore = <Row,>(
  rows: readonly Row[],
  first: number,
  step = first,
): { shown: readonly Row[]; more: ReactNode } => {
  const [most, setMost] = useState(first)
  const left = rows.length - most
  const more = left > 0 && (
    <Button onPress={() => setMost(most + step)}>
      Show {Math.min(step, left)} more of {rows.length}
    </Button>
  )
  return { shown: rows.slice(0, most), more }
}
